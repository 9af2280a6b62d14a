import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type AnyElysia, Elysia } from "elysia";
import { noSuch } from "../domain/error-messages.ts";
import { takesBrotli } from "../lib/built-files.ts";

interface DashboardOptions {
  /** The built dashboard; it may be missing when runnel runs from source. */
  folder: string;
}

const prefix = "/dashboard";
const forever = { "cache-control": "public, max-age=31536000, immutable", vary: "accept-encoding" };

/** Placeholder in the page for the nonce that lets its editor add styles. Each response gets a nonce of its own. */
const noncePlace = "__CSP_NONCE__";

const policyWith = (nonce?: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce ? ` 'nonce-${nonce}'` : ""}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join("; ");
const policy = "content-security-policy";

/** Serves the dashboard's files under `/dashboard`, and its one page for every other address there. */
export function createDashboard({ folder }: DashboardOptions) {
  // Read the files at the first request: after many starts the dashboard is not opened for a while.
  let pages: Promise<AnyElysia> | undefined;
  const answer = async ({ request }: { request: Request }): Promise<Response> => {
    pages ??= createPages(folder).catch((error) => {
      pages = undefined; // The next request tries again.
      throw error;
    });
    return (await pages).handle(request);
  };
  return new Elysia().get("/", answer).get(prefix, answer).get(`${prefix}/*`, answer);
}

async function createPages(folder: string): Promise<AnyElysia> {
  const headers = {
    [policy]: policyWith(),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
  const page = existsSync(join(folder, "index.html")) ? await Bun.file(join(folder, "index.html")).text() : notBuilt;
  const index = () => {
    const nonce = randomBytes(16).toString("base64");
    return new Response(page.replace(noncePlace, nonce), {
      headers: {
        ...headers,
        [policy]: policyWith(nonce),
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
      },
    });
  };
  const redirect = () => new Response(null, { status: 302, headers: { ...headers, location: prefix } });
  const assets = join(folder, "assets");
  const names = existsSync(assets) ? readdirSync(assets, { recursive: true }).map((name) => String(name)) : [];

  const app = new Elysia({ normalize: false })
    .onRequest(({ request }) => compressed(request, assets, names, { ...headers, ...forever }))
    .get("/", redirect)
    .get(prefix, index)
    .get(`${prefix}/*`, ({ params, status }) =>
      params["*"].startsWith("assets/") ? status(404, noSuch("file")) : index(),
    );
  if (names.length === 0) return app;
  const { staticPlugin } = await import("@elysiajs/static");
  const files = await staticPlugin({
    assets,
    prefix: `${prefix}/assets`,
    alwaysStatic: true,
    indexHTML: false,
    // File names contain content hashes, so browsers need no revalidation.
    etag: false,
    headers: { ...headers, ...forever },
    ignorePatterns: [/\.br$/],
    detail: { hide: true },
  });
  return app.use(files);
}

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>runnel</title>
<h1>The dashboard is not built</h1>
<p>This runnel runs from source. <code>npm run build</code> builds the dashboard; the API works without it.</p></html>`;

/**
 * Returns the copy that the build compressed if it exists and the client accepts it; else the plugin serves the file.
 */
function compressed(
  request: Request,
  folder: string,
  names: readonly string[],
  headers: Record<string, string>,
): Response | undefined {
  const name = /^https?:\/\/[^/]+\/dashboard\/assets\/([^?#]+)/.exec(request.url)?.[1];
  if (name === undefined || request.method !== "GET" || !names.includes(`${name}.br`)) return undefined;
  if (!takesBrotli(request)) return undefined;
  return new Response(Bun.file(join(folder, `${name}.br`)), {
    headers: {
      ...headers,
      "content-type": Bun.file(join(folder, name)).type,
      "content-encoding": "br",
    },
  });
}

import { randomBytes } from "node:crypto";
import { Elysia } from "elysia";
import { noSuch } from "../domain/error-messages.ts";
import { builtFilesIn, builtResponse, readBuiltText } from "../lib/built-files.ts";

interface DashboardOptions {
  /** The built dashboard; it may be missing when runnel runs from source. */
  folder: string;
}

const prefix = "/dashboard";
// File names contain content hashes, so browsers need no revalidation.
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
const headers = {
  [policy]: policyWith(),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Serves the dashboard's files under `/dashboard`, and its one page for every other address there. */
export function createDashboard({ folder }: DashboardOptions) {
  // Read the files at the first request: after many starts the dashboard is not opened for a while.
  let pages: ReturnType<typeof readPages> | undefined;
  const read = () => {
    pages ??= readPages(folder);
    return pages;
  };
  const index = () => {
    const nonce = randomBytes(16).toString("base64");
    return new Response(read().page.replace(noncePlace, nonce), {
      headers: {
        ...headers,
        [policy]: policyWith(nonce),
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
      },
    });
  };
  return new Elysia()
    .get("/", () => new Response(null, { status: 302, headers: { ...headers, location: prefix } }))
    .get(prefix, index)
    .get(`${prefix}/*`, ({ params, request, status }) => {
      const name = params["*"];
      if (!name.startsWith("assets/")) return index();
      const file = read().files.get(name);
      return file ? builtResponse(file, request, { headers: { ...headers, ...forever } }) : status(404, noSuch("file"));
    });
}

function readPages(folder: string) {
  const files = builtFilesIn(folder);
  const page = files.get("index.html");
  return { files, page: page ? readBuiltText(page) : notBuilt };
}

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>runnel</title>
<h1>The dashboard is not built</h1>
<p>This runnel runs from source. <code>npm run build</code> builds the dashboard; the API works without it.</p></html>`;

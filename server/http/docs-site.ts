import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Elysia } from "elysia";

const headers = {
  // Browsers revalidate every time; an unchanged page gets 304.
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "referrer-policy": "no-referrer",
  vary: "accept-encoding",
};

/**
 * Serves the built documentation without a key: `/docs`, `/docs/<page>` and `/docs/<page>.md`, `/llms.txt`,
 * `/llms-full.txt`, and the scripts of the embedded chat and the chat page. From source, it exists only after a build.
 */
export function docsRoutes({ folder, openApi }: { folder: string; openApi: () => string }) {
  // Read at the first request, because reading all files would add a tenth to the start time.
  let site: ReturnType<typeof readSite> | undefined;
  const serve = (path: string, request: Request): Response => {
    site ??= readSite(folder);
    const { files, lost } = site;
    const file = files.get(path) ?? files.get(`${path}.html`) ?? files.get(join(path, "index.html"));
    if (file) return isKnown(file, request) ? unchanged(file) : responseOf(file, request);
    return lost ? responseOf(lost, request, 404) : notBuilt();
  };
  return new Elysia()
    .get("/docs", ({ request }) => serve("", request))
    .get(
      "/docs/openapi.json",
      () => new Response(openApi(), { headers: { ...headers, "content-type": "application/json" } }),
    )
    .get("/docs/errors", () => new Response(null, { status: 308, headers: { location: "/docs/reference/errors" } }))
    .get("/docs/*", ({ params, request }) => serve(params["*"].replace(/\/$/, ""), request))
    .get("/embed.js", ({ request }) => serve("embed.js", request))
    .get("/chat.js", ({ request }) => serve("chat.js", request))
    .get("/chat.css", ({ request }) => serve("chat.css", request))
    .get("/llms.txt", ({ request }) => serve("llms.txt", request))
    .get("/llms-full.txt", ({ request }) => serve("llms-full.txt", request));
}

function readSite(folder: string) {
  const files = new Map(existsSync(folder) ? namesIn(folder).map((name) => [name, fileOf(folder, name)]) : []);
  const lost = files.get("404.html");
  files.delete("404.html");
  return { files, lost };
}

interface DocsFile {
  path: string;
  type: string;
  etag: string;
  /** Path of the compressed copy made by the build; null if there is none. */
  brotli: string | null;
}

const namesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true })
    .map((name) => String(name).replaceAll("\\", "/"))
    .filter((name) => !name.endsWith(".br") && statSync(join(folder, name)).isFile());

function fileOf(folder: string, name: string): DocsFile {
  const path = join(folder, name);
  return {
    path,
    type: name.endsWith(".md") ? "text/markdown; charset=utf-8" : Bun.file(path).type,
    etag: `"${Bun.hash(readFileSync(path)).toString(36)}"`,
    brotli: existsSync(`${path}.br`) ? `${path}.br` : null,
  };
}

/** True if the client's cached copy is current. */
function isKnown({ etag }: DocsFile, request: Request): boolean {
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  return known.some((one) => [etag, "*"].includes(one.trim().replace(/^W\//, "")));
}

const unchanged = ({ etag }: DocsFile): Response => new Response(null, { status: 304, headers: { ...headers, etag } });

function responseOf({ path, type, etag, brotli }: DocsFile, request: Request, status = 200): Response {
  const its = { ...headers, "content-type": type, ...(status === 200 && { etag }) };
  if (brotli === null || !takesBrotli(request)) return new Response(Bun.file(path), { status, headers: its });
  return new Response(Bun.file(brotli), { status, headers: { ...its, "content-encoding": "br" } });
}

const notBuilt = (): Response =>
  new Response("The documentation is not built: this runnel runs from source. `npm run build` builds it.\n", {
    status: 404,
    headers: { ...headers, "content-type": "text/plain; charset=utf-8" },
  });

/** True if the client accepts Brotli. */
export const takesBrotli = (request: Request): boolean =>
  /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers.get("accept-encoding") ?? "");

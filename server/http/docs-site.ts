import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Elysia } from "elysia";
import { type BuiltFile, builtFilesIn, builtResponse } from "../lib/built-files.ts";

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
  const serve = async (path: string, request: Request): Promise<Response> => {
    site ??= readSite(folder);
    const { files, lost } = site;
    const file = files.get(path) ?? files.get(`${path}.html`) ?? files.get(join(path, "index.html"));
    if (!file) return lost ? builtResponse(lost, request, { status: 404, headers }) : notBuilt();
    const { etag } = file;
    return isKnown(etag, request)
      ? new Response(null, { status: 304, headers: { ...headers, etag } })
      : builtResponse(file, request, { headers: { ...headers, etag } });
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

interface DocsFile extends BuiltFile {
  etag: string;
}

function readSite(folder: string): { files: Map<string, DocsFile>; lost: DocsFile | undefined } {
  const files = new Map([...builtFilesIn(folder)].map(([name, file]) => [name, { ...file, etag: etagOf(file) }]));
  const lost = files.get("404.html");
  files.delete("404.html");
  return { files, lost };
}

const etagOf = ({ path }: BuiltFile): string => `"${Bun.hash(readFileSync(path)).toString(36)}"`;

/** True if the client's cached copy is current. */
function isKnown(etag: string, request: Request): boolean {
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  return known.some((one) => [etag, "*"].includes(one.trim().replace(/^W\//, "")));
}

const notBuilt = (): Response =>
  new Response("The documentation is not built: this runnel runs from source. `npm run build` builds it.\n", {
    status: 404,
    headers: { ...headers, "content-type": "text/plain; charset=utf-8" },
  });

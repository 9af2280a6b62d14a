import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { guides } from "../../dashboard/src/app/pages.ts";
import { pageFor } from "../../server/cli/commands/docs.ts";
import { AppError, catalogue, type ErrorCode } from "../../server/domain/errors.ts";
import { errorBody } from "../../server/http/errors.ts";
import { docsFinder } from "../../server/lib/docs-search.ts";
import { type TestApp, testApp } from "../../server/testing/test-app.ts";
import { inProject } from "../root.ts";
import { buildDocs } from "./build-docs.ts";

let folder = "";
let docs = "";
let server: TestApp;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "runnel-docs-"));
  await buildDocs(folder);
  docs = join(folder, "docs");
  server = testApp({ docs });
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
  server.app.handle(new Request(`https://localhost${path}`, { method, headers }));
const typeOf = (response: Response): string | null => response.headers.get("content-type");

describe("a page", () => {
  test.each([
    ["/docs", "runnel"],
    ["/docs/", "runnel"],
    ["/docs/guides/streaming", "Streaming"],
    ["/docs/guides/streaming/", "Streaming"],
    ["/docs/reference/errors", "Errors"],
    ["/docs/licenses", "Licenses"],
  ])("is served as HTML at %s, without a key", async (path, title) => {
    const response = await ask(path);
    expect([response.status, typeOf(response)]).toEqual([200, "text/html;charset=utf-8"]);
    expect(await response.text()).toMatch(new RegExp(`<h1 [^>]*>(<a [^>]*>)?${title}`));
  });

  test("is served as its Markdown source beside it", async () => {
    const response = await ask("/docs/guides/streaming.md");
    expect([response.status, typeOf(response)]).toEqual([200, "text/markdown; charset=utf-8"]);
    expect(await response.text()).toBe(readFileSync(inProject("server/docs/guides/streaming.md"), "utf8"));
  });

  test("may run only the site's own script, and cannot be framed", async () => {
    const policy = (await ask("/docs")).headers.get("content-security-policy")?.split("; ") ?? [];
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]),
    );
    const html = await (await ask("/docs/guides/streaming")).text();
    expect(html).not.toMatch(/<script>| style="| on\w+="/);
    expect([...html.matchAll(/ (?:src|href)="(https?:[^"]+)"/g)].filter(([, at]) => /\.(js|css)$/.test(at!))).toEqual(
      [],
    );
  });

  test("is sent compressed to clients that accept it, and uncompressed to others", async () => {
    const plain = await (await ask("/docs/guides/streaming")).text();
    for (const accepted of ["br", "gzip, deflate, br", "br;q=0.5"]) {
      const response = await ask("/docs/guides/streaming", { "accept-encoding": accepted });
      expect([response.headers.get("content-encoding"), response.headers.get("vary")]).toEqual([
        "br",
        "accept-encoding, Origin",
      ]);
      expect(brotliDecompressSync(await response.arrayBuffer()).toString()).toBe(plain);
    }
    for (const refused of ["gzip", "br;q=0", "identity"])
      expect((await ask("/docs", { "accept-encoding": refused })).headers.get("content-encoding")).toBeNull();
  });

  test("is sent again only after a change", async () => {
    const first = await ask("/docs/guides/streaming");
    const etag = first.headers.get("etag")!;
    expect([etag.length > 2, first.headers.get("cache-control")]).toEqual([true, "no-cache"]);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask("/docs/guides/streaming", { "if-none-match": known });
      expect([known, again.status, await again.text(), again.headers.get("etag")]).toEqual([known, 304, "", etag]);
    }
    expect((await ask("/docs/guides/streaming", { "if-none-match": '"other"' })).status).toBe(200);
    expect((await ask("/docs", { "if-none-match": etag })).status).toBe(200);
  });

  test("responds to HEAD with its headers alone", async () => {
    const [whole, head] = [await ask("/docs/guides/streaming"), await ask("/docs/guides/streaming", {}, "HEAD")];
    expect([head.status, await head.text(), typeOf(head)]).toEqual([200, "", typeOf(whole)]);
    expect(head.headers.get("etag")).toBe(whole.headers.get("etag"));
  });
});

// The executable contains all of them.
test("every text of the site is stored once, compressed", () => {
  const names = readdirSync(docs, { recursive: true }).map(String);
  expect(names.filter((name) => names.includes(`${name}.br`))).toEqual([]);
  expect(names.filter((name) => /\.(html|md)$/.test(name))).toEqual([]);
});

describe("a missing page", () => {
  test.each(["/docs/nothing", "/docs/guides/nothing", "/docs/nothing.md", "/docs/nothing.css"])(
    "is an HTML page of the site, not an error in JSON: %s",
    async (path) => {
      const response = await ask(path);
      expect([response.status, typeOf(response)]).toEqual([404, "text/html;charset=utf-8"]);
      const html = await response.text();
      expect(html).toContain('<nav id="pages" aria-label="Pages">');
      expect(html).toContain('href="/docs/start/quickstart"');
      expect(html).not.toContain("aria-current");
    },
  );

  test("ignores the ETag of the 404 page, so that a client does not keep it", async () => {
    const etag = (await ask("/docs/404")).headers.get("etag");
    const response = await ask("/docs/nothing", etag ? { "if-none-match": etag } : {});
    expect(response.status).toBe(404);
  });

  test.each([
    "/docs/..%2f..%2fpackage.json",
    "/docs/..%2f..%2f..%2f..%2f..%2fetc/passwd",
    "/docs/%2e%2e/%2e%2e/etc/passwd",
    "/docs/..%5c..%5cpackage.json",
    "/docs/%2fetc%2fpasswd",
    "/docs/guides%00/streaming",
    "/docs/guides/streaming.html.br",
  ])("never resolves outside of the site's folder: %s", async (path) => {
    expect((await ask(path)).status).toBe(404);
  });
});

describe("beside the pages", () => {
  test("/docs/errors redirects to the errors", async () => {
    const response = await ask("/docs/errors");
    expect([response.status, response.headers.get("location")]).toEqual([308, "/docs/reference/errors"]);
  });

  test("every code's doc_url leads to its anchor", async () => {
    for (const code of Object.keys(catalogue) as ErrorCode[]) {
      const { doc_url } = errorBody(new AppError(code, "No."), () => "https://localhost").error;
      const { pathname, hash } = new URL(doc_url);
      const response = await ask(pathname);
      expect([doc_url, response.status]).toEqual([doc_url, 200]);
      expect(await response.text()).toContain(` id="${hash.slice(1)}"`);
    }
  });

  test("/llms.txt lists the pages for language models, and /llms-full.txt contains them all", async () => {
    const list = await ask("/llms.txt");
    expect([list.status, typeOf(list)]).toEqual([200, "text/plain;charset=utf-8"]);
    const listed = [...(await list.text()).matchAll(/\]\((\/docs\/[^)]+)\)/g)].map(([, path]) => path!);
    expect(listed.length).toBeGreaterThan(5);
    for (const path of listed) expect([path, (await ask(path)).status]).toEqual([path, 200]);
    const full = await (await ask("/llms-full.txt")).text();
    expect(full).toContain(readFileSync(inProject("server/docs/guides/streaming.md"), "utf8").trim());
  });

  test("the files of the examples, and the licences, are served", async () => {
    const helpers = await ask("/docs/files/runnel.sh");
    expect(await helpers.text()).toBe(readFileSync(inProject("server/docs/files/runnel.sh"), "utf8"));
    const licenses = await ask("/docs/licenses.txt");
    expect([licenses.status, typeOf(licenses)]).toEqual([200, "text/plain;charset=utf-8"]);
  });

  test("the served clients are those that the build leaves in `clients`", async () => {
    const { version } = JSON.parse(readFileSync(inProject("package.json"), "utf8"));
    for (const name of [
      `runnel-sdk-${version}.tgz`,
      `runnel-sdk-${version}.js`,
      `runnel_sdk-${version}-py3-none-any.whl`,
    ]) {
      const served = await ask(`/docs/clients/${name}`);
      expect([name, served.status]).toEqual([name, 200]);
      expect(readFileSync(join(folder, "clients", name)).equals(await served.bytes())).toBe(true);
    }
  });

  test("every guide that the dashboard links to exists", async () => {
    for (const guide of Object.values(guides))
      expect([guide, (await ask(`/docs/${guide}`)).status]).toEqual([guide, 200]);
  });

  test("the search index names existing pages", async () => {
    const find = docsFinder(await (await ask("/docs/search.json")).text());
    const [streaming] = find("streaming");
    expect(streaming).toMatchObject({ path: "guides/streaming", title: "Streaming" });
    for (const { path } of find("runnel a")) {
      expect([path, (await ask(`/docs/${path}`)).status]).toEqual([path, 200]);
      expect([path, (await ask(`/docs/search/${path || "index"}.txt`)).status]).toEqual([path, 200]);
    }
  });
});

test("before a build, a server from source responds with the build command", async () => {
  await using unbuilt = testApp({ docs: join(folder, "nowhere") });
  const answer = await unbuilt.send("GET", "/docs");
  expect([answer.status, answer.body]).toEqual([404, expect.stringContaining("npm run build")]);
});

const written = (path: string): string => readFileSync(inProject("server/docs", path), "utf8");

describe("runnel docs", () => {
  test("without a topic lists the pages", () => {
    const list = pageFor(docs, undefined);
    expect(list).toStartWith("# runnel\n");
    expect(list).toContain("[Streaming](/docs/guides/streaming.md): ");
  });

  test.each([
    ["the end of its name", "streaming"],
    ["its whole name", "guides/streaming"],
    ["its file", "guides/streaming.md"],
    ["an address", "guides/streaming/"],
  ])("prints a page by %s", (_, topic) => {
    expect(pageFor(docs, topic)).toBe(written("guides/streaming.md"));
  });

  test("lists the pages that a search finds, the best first, if no page is called so", () => {
    expect(pageFor(docs, "single sign-on okta").split("\n")[0]).toBe("operate/sign-in\tSingle sign-on (OIDC)");
    expect(pageFor(docs, "webhok").split("\n")[0]).toStartWith("guides/webhooks\t");
  });

  test("prints the first page of a section by its name", () => {
    expect(pageFor(docs, "reference/errors")).toStartWith("# Errors\n");
    expect(pageFor(docs, "licenses")).toStartWith("# Licenses\n");
  });

  test("reports an unknown name, and lists the pages of an ambiguous one", () => {
    expect(() => pageFor(docs, "zzzzzzzz")).toThrow('There is no page "zzzzzzzz". `runnel docs` lists them.');
    mkdirSync(join(docs, "explain"), { recursive: true });
    writeFileSync(join(docs, "explain/streaming.md"), "# Streaming, explained\n");
    expect(pageFor(docs, "streaming").split("\n").slice(0, 2).sort()).toEqual([
      expect.stringMatching(/^explain\/streaming\t/),
      expect.stringMatching(/^guides\/streaming\t/),
    ]);
    rmSync(join(docs, "explain/streaming.md"));
    expect(() => pageFor(docs, "../../../zzzzzzzz")).toThrow("There is no page");
  });
});

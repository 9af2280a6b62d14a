import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { requested, stateOf, turnWithCalls } from "../../domain/__fixtures__/events.ts";
import type { PageTool } from "../../domain/agent-snapshot.ts";
import { pdfOf } from "../../testing/documents.ts";
import { toolBase } from "../../testing/run-fixture.ts";
import { toolContext } from "../../testing/tool-context.ts";
import { createDocumentReader } from "../sandbox/document-reader.ts";
import { run as runPageTool } from "./tools/page.ts";
import type { ToolResult } from "./tools/tool-result.ts";

// A hang only: each page is read by a process of the sandbox, with a low priority.
setDefaultTimeout(120_000);

let handle: (request: Request) => Response | Promise<Response>;
let asked: string[] = [];
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    asked.push(new URL(request.url).pathname);
    return handle(request);
  },
});
const reader = createDocumentReader({ level: () => "strict", spares: 0 });
afterAll(async () => {
  reader.stop();
  await server.stop(true);
});
beforeEach(() => {
  asked = [];
});

const base = `http://127.0.0.1:${server.port}`;
const host = `127.0.0.1:${server.port}`;
const [call] = stateOf(...turnWithCalls(["call_1", null])).calls;

interface Setting {
  page?: Partial<PageTool["page"]>;
  loopback?: boolean;
  policy?: { allow?: string[]; loopback?: boolean };
  signal?: AbortSignal;
}

async function read(args: object, { page = {}, loopback = true, policy, signal }: Setting = {}): Promise<ToolResult> {
  const tool: PageTool = {
    ...toolBase("fetch_page"),
    type: "page",
    http: null,
    idempotent: true,
    page: { allowed_hosts: [host], timeout_ms: 30_000, ...page },
  };
  const context = toolContext({ policy: { loopback, ...policy }, readDocument: reader.read });
  const made = { ...call!, arguments: { ...requested("call_1", 1).call.arguments, ...args } };
  return (await runPageTool(made, tool, context, signal ?? new AbortController().signal)) as ToolResult;
}

const html = (body: string, head = "") =>
  new Response(`<!doctype html><html><head>${head}</head><body>${body}</body></html>`, {
    headers: { "content-type": "text/html; charset=utf-8" },
  });

describe("a page is read as Markdown", () => {
  test("with headings, tables and whole addresses of links, and without scripts and menus", async () => {
    handle = () =>
      html(
        `<nav><a href="/menu">Menu</a></nav><h1>Prices</h1><p>See <a href="../terms?a=1#b">the terms</a> or <a href="https://other.example/x">them</a>.</p>
         <table><tr><th>Item</th><th>Price</th></tr><tr><td>Pear</td><td>2 €</td></tr></table><script>alert(1)</script>`,
      );
    const { output, error } = await read({ url: `${base}/shop/prices/` });
    expect(error).toBeNull();
    const { content, ...rest } = output as { content: string };
    expect(rest).toEqual({ url: `${base}/shop/prices/`, next_offset: null, length: content.length });
    expect(content).toContain("# Prices");
    expect(content).toContain(`[the terms](${base}/shop/terms?a=1#b)`);
    expect(content).toContain("[them](https://other.example/x)");
    expect(content).toMatch(/\| Pear \| 2 € \|/);
    expect(content).not.toMatch(/alert|Menu/);
  });

  test("in the encoding that its server names", async () => {
    handle = () =>
      new Response(new Uint8Array([0x3c, 0x70, 0x3e, 0xe9, 0x74, 0xe9]), {
        headers: { "content-type": "text/html; charset=iso-8859-1" },
      });
    expect((await read({ url: base })).output).toMatchObject({ content: "été" });
  });

  test("a PDF, plain text and JSON are read, too", async () => {
    handle = () => new Response(pdfOf(["Terms of the PDF"]), { headers: { "content-type": "application/pdf" } });
    expect((await read({ url: base })).output).toMatchObject({ content: expect.stringContaining("Terms of the PDF") });
    handle = () => new Response("plain *text*", { headers: { "content-type": "text/plain" } });
    expect((await read({ url: base })).output).toMatchObject({ content: "plain *text*" });
    handle = () => Response.json({ a: [1, 2] });
    expect((await read({ url: base })).output).toMatchObject({ content: expect.stringMatching(/a.*1/s) });
  });

  test("a long page in parts, which together are the whole page", async () => {
    const words = Array.from({ length: 9000 }, (_, i) => `word${i}`);
    handle = () => html(words.map((word, i) => (i % 100 === 0 ? `</p><p>${word}` : word)).join(" "));
    let [text, offset, parts] = ["", 0 as number | null, 0];
    while (offset !== null) {
      const { output } = await read({ url: base, offset });
      const part = output as { content: string; next_offset: number | null };
      text += part.content;
      offset = part.next_offset;
      parts++;
    }
    expect(parts).toBeGreaterThan(2);
    expect([...text.matchAll(/word\d+/g)].map(([word]) => word)).toEqual(words);
  });

  test("in the encoding that only the page itself names", async () => {
    const bytes = new Uint8Array([...Buffer.from('<meta charset="windows-1252"><p>'), 0x80, 0x20, 0xe9, 0x74, 0xe9]);
    handle = () => new Response(bytes, { headers: { "content-type": "text/html" } });
    expect((await read({ url: base })).output).toMatchObject({ content: "€ été" });
  });

  test("an emoji at the end of a part is whole, in this part or the next", async () => {
    const text = `${"x".repeat(19_999)}😀${"y".repeat(10)}`;
    handle = () => new Response(text, { headers: { "content-type": "text/plain" } });
    const first = (await read({ url: base })).output as { content: string; next_offset: number };
    const second = (await read({ url: base, offset: first.next_offset })).output as { content: string };
    expect(first.content + second.content).toBe(text);
    expect([first.content.at(-1), second.content.slice(0, 2)]).toEqual(["x", "😀"]);
    // An offset that a model made up may be within a character.
    expect((await read({ url: base, offset: 20_000 })).output).toMatchObject({ content: `😀${"y".repeat(10)}` });
  });

  test("after redirects, whose last address is told", async () => {
    handle = ({ url }) => (url.endsWith("/c") ? html("<a href='d'>D</a>") : Response.redirect(`${base}/c`, 308));
    expect((await read({ url: `${base}/a/b` })).output).toMatchObject({ url: `${base}/c`, content: `[D](${base}/d)` });
  });

  test("as empty where there is no content", async () => {
    handle = () => new Response(null, { status: 204 });
    expect(await read({ url: base })).toMatchObject({ error: null, output: { content: "", length: 0 } });
  });

  test("an empty page, and an offset behind its end, are empty", async () => {
    handle = () => new Response("");
    expect((await read({ url: base })).output).toMatchObject({ content: "", next_offset: null });
    handle = () => html("<p>Short</p>");
    expect((await read({ url: base, offset: 900 })).output).toMatchObject({ content: "", next_offset: null });
  });
});

describe("a page is not read", () => {
  test("of a host that the tool may not read, also behind a redirect", async () => {
    handle = () => Response.redirect("https://evil.example/x", 302);
    const page = { allowed_hosts: [host] };
    expect(await read({ url: `${base}/a` }, { page })).toMatchObject({
      error: { code: "host_not_allowed", message: expect.stringContaining("evil.example") },
    });
    asked = [];
    expect(await read({ url: `${base}/a` }, { page: { allowed_hosts: ["docs.example.com"] } })).toMatchObject({
      error: { code: "host_not_allowed" },
      request: "not_sent",
    });
    expect(asked).toEqual([]);
  });

  test("of an address within the network, also behind a redirect", async () => {
    handle = () => html("secret");
    const forbidden = { error: { code: expect.stringMatching(/^(address|scheme)_forbidden$/) } };
    expect(await read({ url: base }, { loopback: false })).toMatchObject(forbidden);
    handle = () => Response.redirect("http://169.254.169.254/latest/meta-data/", 302);
    const allowed_hosts = [host, "169.254.169.254"];
    expect(await read({ url: base }, { page: { allowed_hosts } })).toMatchObject(forbidden);
  });

  test("of this machine or an allowed network, unless the tool names its host", async () => {
    handle = () => html("internal");
    const page = { allowed_hosts: null };
    const policies = [{}, { allow: ["127.0.0.0/8"] }, { allow: [host], loopback: false }];
    for (const policy of policies)
      expect(await read({ url: base }, { page, policy })).toMatchObject({
        error: { code: expect.stringMatching(/^(address|scheme)_forbidden$/) },
        request: "not_sent",
      });
    expect(asked).toEqual([]);
  });

  test.each([
    "file:///etc/passwd",
    "ftp://example.com/a",
    "javascript:alert(1)",
    "example.com",
    "",
    "https://user:pass@example.com/",
  ])("at an address that is none: %p", async (url) => {
    const { error } = await read({ url }, { page: { allowed_hosts: null } });
    expect(error?.code).toBeOneOf(["url_invalid", "credentials_in_url"]);
  });

  test("after too many redirects, or one that leads nowhere", async () => {
    handle = ({ url }) => Response.redirect(`${url}x`, 302);
    expect(await read({ url: `${base}/` })).toMatchObject({ error: { code: "too_many_redirects" } });
    expect(asked).toHaveLength(6);
    handle = () => new Response(null, { status: 301, headers: { location: "http://[" } });
    expect(await read({ url: base })).toMatchObject({ error: { code: "http_error" } });
  });

  test("if the server answers with an error, a picture or too much", async () => {
    handle = () => new Response("gone", { status: 404 });
    expect(await read({ url: base })).toMatchObject({
      error: { code: "http_error", message: "The server of the page answered with status 404." },
    });
    handle = () =>
      new Response(new Uint8Array([0x1f, 0x8b, 8, 0]), { headers: { "content-type": "application/octet-stream" } });
    expect(await read({ url: base })).toMatchObject({
      error: { code: "document_unreadable", message: "No text can be read from application/octet-stream." },
    });
    handle = () => new Response("x".repeat(9 * 2 ** 20));
    expect(await read({ url: base })).toMatchObject({ error: { code: "output_too_large" } });
  });

  test("longer than its time, and the server is not waited for", async () => {
    const gone = Promise.withResolvers<void>();
    handle = (request) => {
      request.signal.addEventListener("abort", () => gone.resolve());
      return new Promise(() => {});
    };
    expect(await read({ url: base }, { page: { timeout_ms: 200 } })).toMatchObject({ error: { code: "timeout" } });
    await gone.promise;
  });
});

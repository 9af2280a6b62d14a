import { afterAll, beforeAll, expect, test } from "bun:test";
import { pdfOf } from "../../testing/documents.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const show = (id: string, page: number, headers: Record<string, string> = {}): Promise<Response> =>
  server.app.handle(
    new Request(`http://localhost/v1/files/${id}/pages/${page}`, {
      headers: { authorization: `Bearer ${client.key.secret}`, ...headers },
    }),
  );
const upload = async (filename: string, bytes: Uint8Array): Promise<string> =>
  (await client.post("/v1/files", { filename, purpose: "attachment", content_base64: bytes.toBase64() })).body.id;

test("a page of a PDF is shown as JPEG, and not again to a client that has it", async () => {
  const id = await upload("two.pdf", pdfOf(["# One\nfirst", "second"]));
  const first = await show(id, 1);
  expect([first.status, first.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
  const { width, height, format } = await new Bun.Image(await first.bytes()).metadata();
  expect(format).toBe("jpeg");
  expect(Math.max(width, height)).toBe(1344);
  const etag = first.headers.get("etag")!;
  const again = await show(id, 1, { "if-none-match": etag });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const second = await show(id, 2);
  expect([second.status, second.headers.get("etag") === etag]).toEqual([200, false]);
}, 60_000);

test.each(["0", "21", "1.5", "x", "-1"])("there is no page %s", async (page) => {
  const id = await upload("one.pdf", pdfOf(["one"]));
  expect((await client.get(`/v1/files/${id}/pages/${page}`)).status).toBe(404);
});

test("a file that is no PDF has no pages to show, and a damaged one says so", async () => {
  const text = await upload("a.txt", new TextEncoder().encode("text"));
  expect((await client.get(`/v1/files/${text}/pages/1`)).status).toBe(404);
  const damaged = await upload("b.pdf", new TextEncoder().encode("%PDF-1.7 and nothing more"));
  const { status, body } = await client.get(`/v1/files/${damaged}/pages/1`);
  expect([status, body.error.code]).toEqual([409, "page_not_drawn"]);
}, 60_000);

test("another project's pages are not shown, also if they were drawn before", async () => {
  const id = await upload("one.pdf", pdfOf(["one"]));
  const own = await show(id, 1);
  expect([own.status, own.headers.get("cache-control")]).toEqual([200, "private, no-cache"]);
  const stranger = await server.client({ project: "stranger" });
  const headers = { authorization: `Bearer ${stranger.key.secret}`, "if-none-match": own.headers.get("etag")! };
  expect((await show(id, 1, headers)).status).toBe(404);
}, 60_000);

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { imageSize } from "../domain/image-size.ts";
import type { PromptMessage } from "../domain/model-call.ts";
import type { ConnectionProvider } from "../domain/providers.ts";
import { createEgress } from "../lib/egress.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import { pdfFrom, pdfOf } from "../testing/documents.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { startProviders } from "../testing/provider-server.ts";
import { wires } from "../testing/provider-wire.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

// Images, recordings and documents of inputs and of tool results, through whole runs, with servers on loopback.

const png = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe1]), Buffer.from("Exif of a photo taken sideways")]);
const wav = Buffer.concat([Buffer.from("RIFF\x24\x00\x00\x00WAVEfmt "), Buffer.alloc(20)]);
const pdf = pdfOf(["The word is swordfish."]);

/** Calls that the model makes in its first answer, by its name. */
const firstCalls = new Map<string, string>();
const providers = startProviders(({ provider, body, request }) => {
  const model = body.model ?? /models\/([^:]+)/.exec(request.url)?.[1];
  const wire = wires[request.url.endsWith("/chat/completions") ? "openai_compatible" : provider];
  const call = firstCalls.get(model);
  firstCalls.delete(model);
  if (call === undefined) return [wire.begin(), wire.text("Seen."), wire.end()];
  return [wire.begin(), wire.call(call), wire.args("{}"), wire.endCall(call, "{}"), wire.end(wire.calls)];
});
const lastBody = () => String(providers.bodies.at(-1));

/** An MCP server with one tool, whose result is a picture. */
function answerMcp({
  id,
  method,
  params,
}: {
  id?: number;
  method: string;
  params?: { protocolVersion?: string };
}): Response {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "pictures", version: "1" },
    },
    "tools/list": { tools: [{ name: "snap", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "image", mimeType: "image/png", data: base64(png) }] },
  };
  if (id === undefined) return new Response(null, { status: 202 });
  return Response.json({ jsonrpc: "2.0", id, result: results[method] ?? {} });
}

const asked: string[] = [];
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    if (pathname === "/mcp")
      return request.method === "POST"
        ? answerMcp((await request.json()) as Parameters<typeof answerMcp>[0])
        : new Response(null, { status: 405 });
    const moved = /^\/to(\/.*)$/.exec(pathname)?.[1];
    if (moved) return new Response(null, { status: 302, headers: { location: moved } });
    if (pathname === "/metadata")
      return new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } });
    if (pathname === "/loop") return new Response(null, { status: 302, headers: { location: "/loop" } });
    const src = `data:image/png;base64,${base64(png)}`;
    if (pathname === "/report") return Response.json({ title: "Sales", charts: [{ src }, { src }] });
    if (pathname === "/empty") return new Response("");
    const contents: Record<string, Uint8Array> = { "/a.png": png, "/photo.png": jpeg, "/a.pdf": pdf, "/a.wav": wav };
    const content = contents[pathname];
    if (content) return new Response(Buffer.from(content), { headers: { "content-type": "application/octet-stream" } });
    if (pathname === "/chart") return new Response(Buffer.from(png), { headers: { "content-type": "image/png" } });
    return new Response("none", { status: 404 });
  },
});
const at = (path: string) => `http://127.0.0.1:${site.port}${path}`;

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp({ publicEgress: createEgress({ allow: [], loopback: true }) });
  await server.recover();
  client = await server.client();
  for (const connection of providers.connections) await server.connections.put(connection, testActor);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
  await site.stop(true);
});

const made = async (path: string, body: object): Promise<Answer["body"]> => {
  const answer = await client.post(path, body);
  expect([answer.status, answer.body.error ?? null]).toEqual([201, null]);
  return answer.body;
};
const newAgent = async (provider: ConnectionProvider, model: string, more: object = {}): Promise<string> => {
  const fullName = `${modelPrefix(providers.connectionOf(provider))}/${model}`;
  return (await made("/v1/agents", { name: "a", instructions: "Look.", model: fullName, ...more })).id;
};
const show = (...content: object[]) => [{ role: "user", content: [{ type: "text", text: "What is it?" }, ...content] }];
const run = (agent_id: string, input: unknown, more: object = {}) =>
  client.post("/v1/runs?wait=60", { agent_id, input, ...more });
const journalOf = (id: string): string =>
  JSON.stringify(server.db.sqlite.query("SELECT data FROM run_events WHERE run_id = ?").all(id));
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const refusal = ({ status, body }: Answer) => [
  status,
  body.error?.code,
  body.error?.param,
  body.error?.details?.reason,
];

describe("an image", () => {
  test.each<[string, object]>([
    ["by address", { type: "image", url: at("/a.png") }],
    ["by an address that redirects", { type: "image", url: at("/to/a.png") }],
    ["as a data URL", { type: "image", data: `data:image/png;base64,${base64(png)}` }],
    ["as base64", { type: "image", data: base64(png) }],
    ["as OpenAI's input_image by address", { type: "input_image", image_url: at("/a.png") }],
    ["as OpenAI's input_image with data", { type: "input_image", image_url: `data:image/png;base64,${base64(png)}` }],
  ])("%s becomes one file of the project: journal, run and replay hold neither bytes nor address", async (_, part) => {
    const agent_id = await newAgent("anthropic", "claude-sonnet-4-5");
    const { body } = await run(agent_id, show(part));
    expect(body).toMatchObject({ status: "completed", output: "Seen." });
    const [{ content }] = body.input;
    expect(content).toEqual([
      { type: "text", text: "What is it?" },
      { type: "image", file_id: expect.any(String) },
    ]);
    const file = await client.get(`/v1/files/${content[1].file_id}`);
    expect(file.body).toMatchObject({ mime_type: "image/png", bytes: png.length });
    expect(lastBody()).toContain(
      `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${base64(png)}"}}`,
    );
    const written = journalOf(body.id) + JSON.stringify(body);
    expect([written.includes(base64(png)), written.includes("127.0.0.1")]).toEqual([false, false]);
    const replay = await client.post(`/v1/runs/${body.id}/replay`, { mode: "verify" });
    expect([replay.body.status, replay.body.replay.divergences]).toEqual(["completed", []]);
  });

  test("by address is fetched once, however often it is named, and never again by later turns", async () => {
    const agent_id = await newAgent("openai", "gpt-5");
    const before = asked.length;
    const part = { type: "image", url: at("/a.png") };
    const { body } = await run(agent_id, [...show(part), { role: "assistant", content: "?" }, ...show(part)]);
    expect([body.status, asked.slice(before)]).toEqual(["completed", ["/a.png"]]);
    expect(body.input[0].content[1].file_id).toBe(body.input[2].content[1].file_id);
  });

  test("has the type of its bytes, whatever its name, its URL or its server says", async () => {
    const agent_id = await newAgent("anthropic", "claude-sonnet-4-5");
    await run(agent_id, show({ type: "image", url: at("/photo.png") }));
    expect(lastBody()).toContain('"media_type":"image/jpeg"');
    await run(agent_id, show({ type: "image", data: `data:image/webp;base64,${base64(jpeg)}` }));
    expect(lastBody()).toContain('"media_type":"image/jpeg"');
  });

  test("is sent byte by byte as it came, with the orientation in its metadata", async () => {
    await run(await newAgent("openai", "gpt-5"), show({ type: "image", url: at("/photo.png") }));
    expect(lastBody()).toContain(base64(jpeg));
  });

  test.each<[string, Uint8Array, RegExp]>([
    ["HEIC", Buffer.from("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), /image\/heic.*Convert it to PNG or JPEG/],
    ["AVIF", Buffer.from("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00"), /image\/avif.*Convert/],
    ["TIFF", Buffer.from("II*\x00rest of it"), /image\/tiff.*Convert/],
    ["SVG", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), /text/],
    ["PDF", pdf, /a PDF.*Send it as a file/],
    ["HTML", Buffer.from("<!doctype html><title>Sign in</title>"), /an HTML page/],
  ])("that is %s is refused before the run, and the error says what it is", async (_, content, message) => {
    const part = { type: "image", data: `data:image/png;base64,${base64(content)}` };
    const answer = await run(await newAgent("openai", "gpt-5"), show(part));
    expect(refusal(answer).slice(0, 3)).toEqual([400, "unsupported_input", "input[0].content[1].data"]);
    expect(answer.body.error.message).toMatch(message);
  });

  test("WebP and GIF are taken as they are", async () => {
    const agent_id = await newAgent("anthropic", "claude-sonnet-4-5");
    for (const [type, content] of [
      ["image/webp", "RIFF\x24\x00\x00\x00WEBPVP8 "],
      ["image/gif", "GIF89a\x01\x00\x01\x00"],
    ] as const) {
      const { body } = await run(agent_id, show({ type: "image", data: base64(Buffer.from(content, "latin1")) }));
      expect([body.status, lastBody().includes(`"media_type":"${type}"`)]).toEqual(["completed", true]);
    }
  });

  test.each<[string, string, string]>([
    ["a private address", "https://10.0.0.1/a.png", "unreachable"],
    ["the cloud's metadata", "http://169.254.169.254/latest/meta-data/", "unreachable"],
    ["a redirect to the cloud's metadata", at("/metadata"), "unreachable"],
    ["a redirect without end", at("/loop"), "too_many_redirects"],
    ["a missing page", at("/none"), "bad_status"],
    ["nothing", at("/empty"), "empty"],
    ["another protocol", "file:///etc/passwd", "unreachable"],
  ])("at %s is refused before the run, with the reason", async (_, url, reason) => {
    const answer = await run(await newAgent("openai", "gpt-5"), show({ type: "image", url }));
    expect(refusal(answer)).toEqual([400, "url_not_fetched", "input[0].content[1].url", reason]);
  });

  test("for a model that is known to see none is refused when the run is made", async () => {
    const answer = await run(await newAgent("openai", "gpt-3.5-turbo"), show({ type: "image", data: base64(png) }));
    expect(refusal(answer).slice(0, 3)).toEqual([400, "unsupported_input", "input[0].content"]);
  });

  test("of a thread's message is fetched when the message is added, and later runs show it", async () => {
    const thread = await made("/v1/threads", {});
    const added = await made(
      `/v1/threads/${thread.id}/messages`,
      show({ type: "input_image", image_url: at("/a.png") })[0]!,
    );
    expect(added.images).toEqual([{ file_id: expect.any(String), mime_type: "image/png" }]);
    const agent_id = await newAgent("openai", "gpt-5", { memory: { history: { mode: "thread" } } });
    await run(agent_id, "And now?", { thread_id: thread.id });
    expect(lastBody()).toContain(`"image_url":"data:image/png;base64,${base64(png)}"`);
    const refused = await client.post(
      `/v1/threads/${thread.id}/messages`,
      show({ type: "image", url: at("/none") })[0],
    );
    expect(refusal(refused)).toEqual([400, "url_not_fetched", "content[1].url", "bad_status"]);
  });
});

describe("a PDF", () => {
  const part = { type: "input_file", filename: "report.pdf", file_data: `data:application/pdf;base64,${base64(pdf)}` };
  const documentsOf = async (id: string) => (await client.get(`/v1/traces/${id}`)).body.documents;

  test.each<[ConnectionProvider, string, string]>([
    [
      "anthropic",
      "claude-sonnet-4-5",
      `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"${base64(pdf)}"},"title":"report.pdf"}`,
    ],
    [
      "openai",
      "gpt-5",
      `{"type":"input_file","filename":"report.pdf","file_data":"data:application/pdf;base64,${base64(pdf)}"}`,
    ],
    ["google", "gemini-2.5-pro", `{"inlineData":{"mimeType":"application/pdf","data":"${base64(pdf)}"}}`],
  ])("goes to %s as it is, and the trace says so", async (provider, model, sent) => {
    const { body } = await run(await newAgent(provider, model), show(part));
    expect(body.status).toBe("completed");
    expect(lastBody()).toContain(sent);
    expect(lastBody()).not.toContain("swordfish");
    const [{ content }] = body.input;
    expect(content[1]).toEqual({ type: "file", file_id: body.file_ids[0], filename: "report.pdf" });
    expect(await documentsOf(body.id)).toMatchObject([{ filename: "report.pdf", native: true, pages: 1, note: null }]);
    expect(journalOf(body.id)).not.toContain(base64(pdf).slice(0, 100));
  });

  test("goes to other models as its text, and the trace says so", async () => {
    const { body } = await run(await newAgent("openai_compatible", "any"), show(part));
    expect(lastBody()).toContain("The word is swordfish.");
    expect(lastBody()).not.toContain(base64(pdf).slice(0, 100));
    const [document] = await documentsOf(body.id);
    expect([document.native, document.length > 0]).toEqual([undefined, true]);
  });

  test("goes as its text and its pages to a model that sees images and reads no PDFs, and the trace says so", async () => {
    const { body } = await run(await newAgent("openai_compatible", "qwen2.5-vl-7b"), show(part));
    expect(body.status).toBe("completed");
    expect(lastBody()).toContain("The word is swordfish.");
    expect(lastBody()).toContain("are attached, in this order: 1.]");
    const [, image = ""] = /data:image\/jpeg;base64,([^"]+)"/.exec(lastBody()) ?? [];
    expect(imageSize(Uint8Array.fromBase64(image))).toMatchObject({ height: 1344 });
    expect(await documentsOf(body.id)).toMatchObject([
      { filename: "report.pdf", page_images: 1, pages: 1, note: null },
    ]);
    expect(journalOf(body.id)).not.toContain(image.slice(0, 100));
  });

  test("is not drawn or sent again by a replay, and goes as it is to a model that reads PDFs in a fork", async () => {
    const { body } = await run(await newAgent("openai_compatible", "qwen2.5-vl-7b"), show(part));
    const asked = providers.bodies.length;
    const replay = await client.post(`/v1/runs/${body.id}/replay`, { mode: "verify" });
    expect([replay.body.replay.divergences, providers.bodies.length]).toEqual([[], asked]);
    const edits = { model: "anthropic/claude-sonnet-4-5" };
    const fork = await client.post(`/v1/runs/${body.id}/fork?wait=60`, { step_index: -1, edits });
    expect(fork.body.status).toBe("completed");
    expect(lastBody()).toContain(base64(pdf));
    expect(lastBody()).not.toContain("image/jpeg");
  });

  test("without text is shown to a model that may see", async () => {
    const blank = pdfFrom([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 2 /Kids [3 0 R 3 0 R] >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>",
    ]);
    const file_data = `data:application/pdf;base64,${base64(blank)}`;
    const { body } = await run(
      await newAgent("openai_compatible", "any"),
      show({ type: "input_file", filename: "blank.pdf", file_data }),
    );
    expect(body.status).toBe("completed");
    expect(lastBody().match(/data:image\/jpeg;base64,/g)).toHaveLength(2);
    expect(await documentsOf(body.id)).toMatchObject([
      { page_images: 2, pages: 2, length: null, note: expect.stringContaining("It could not be read") },
    ]);
  });

  test("has no images of its pages for a model with a guardrail on the input", async () => {
    const guardrails = [{ type: "blocked_terms", on: ["input"], action: "redact", config: { terms: ["swordfish"] } }];
    await run(await newAgent("openai_compatible", "qwen2.5-vl-7b", { guardrails }), show(part));
    expect(lastBody()).toContain("The word is [removed].");
    expect(lastBody()).not.toContain("data:image/jpeg");
  });

  test("goes as text to a model with a guardrail on the input, which reads the text", async () => {
    const guardrails = [{ type: "blocked_terms", on: ["input"], action: "redact", config: { terms: ["swordfish"] } }];
    await run(await newAgent("anthropic", "claude-sonnet-4-5", { guardrails }), show(part));
    expect(lastBody()).toContain("The word is [removed].");
    expect(lastBody()).not.toContain('"type":"document"');
  });

  test("by address, by file_id of the run, and by file is the same document", async () => {
    const agent_id = await newAgent("openai", "gpt-5");
    const first = await run(agent_id, show({ type: "input_file", file_url: at("/a.pdf") }));
    const [{ filename, file_id }] = await documentsOf(first.body.id);
    expect(filename).toBe("a.pdf");
    for (const again of [
      await run(agent_id, show({ type: "file", file_id })),
      await run(agent_id, "?", { file_ids: [file_id] }),
    ]) {
      expect(again.body.file_ids).toEqual([file_id]);
      expect(lastBody()).toContain('"type":"input_file"');
    }
  });

  test("of an earlier message in the thread is given to the next run too", async () => {
    const thread = await made("/v1/threads", {});
    const agent_id = await newAgent("anthropic", "claude-sonnet-4-5", { memory: { history: { mode: "thread" } } });
    await run(agent_id, show(part), { thread_id: thread.id });
    const next = await run(agent_id, "And the second page?", { thread_id: thread.id });
    expect(next.body.status).toBe("completed");
    expect(lastBody()).toContain('"type":"document"');
    const { data } = (await client.get(`/v1/threads/${thread.id}/messages?order=asc`)).body;
    expect(data.map(({ files }: { files?: object[] }) => files?.length ?? 0)).toEqual([1, 0, 0, 0]);
  });

  test("that is replayed or forked is the same, and is deleted with the last run that has it", async () => {
    const { body } = await run(await newAgent("openai", "gpt-5"), show({ ...part, filename: "once.pdf" }));
    const replay = await client.post(`/v1/runs/${body.id}/replay`, { mode: "verify" });
    expect(replay.body.replay.divergences).toEqual([]);
    const fork = await client.post(`/v1/runs/${body.id}/fork?wait=60`, { step_index: -1 });
    expect([fork.body.input, fork.body.file_ids]).toEqual([body.input, body.file_ids]);
    for (const { id } of [body, replay.body, fork.body]) {
      expect((await client.get(`/v1/files/${body.file_ids[0]}`)).status).toBe(200);
      await client.delete(`/v1/runs/${id}`);
    }
    expect((await client.get(`/v1/files/${body.file_ids[0]}`)).status).toBe(404);
  });
});

describe("a recording", () => {
  const part = { type: "input_audio", input_audio: { data: base64(wav), format: "wav" } };

  test.each<[ConnectionProvider, string, string]>([
    ["google", "gemini-2.5-pro", `{"inlineData":{"mimeType":"audio/wav","data":"${base64(wav)}"}}`],
    ["openai", "gpt-4o-audio-preview", `{"type":"input_audio","input_audio":{"data":"${base64(wav)}","format":"wav"}}`],
  ])("goes to %s %s", async (provider, model, sent) => {
    const agent_id = await newAgent(provider, model);
    for (const one of [part, { type: "audio", url: at("/a.wav") }]) {
      const { body } = await run(agent_id, show(one));
      expect([body.status, body.input[0].content[1].type]).toEqual(["completed", "audio"]);
      expect(lastBody()).toContain(sent);
      expect(journalOf(body.id)).not.toContain(base64(wav));
    }
  });

  test.each<[ConnectionProvider, string]>([
    ["anthropic", "claude-sonnet-4-5"],
    ["openai", "gpt-5"],
    ["ollama", "llama3"],
  ])("is refused for %s %s when the run is made", async (provider, model) => {
    const answer = await run(await newAgent(provider, model), show(part));
    expect(refusal(answer).slice(0, 3)).toEqual([400, "unsupported_input", "input[0].content"]);
    expect(answer.body.error.message).toContain(model);
  });

  test("of another format is refused, and the error says which are taken", async () => {
    const ogg = { type: "audio", data: base64(Buffer.from("OggS and more")) };
    const answer = await run(await newAgent("google", "gemini-2.5-pro"), show(ogg));
    expect(refusal(answer).slice(0, 3)).toEqual([400, "unsupported_input", "input[0].content[1].data"]);
    expect(answer.body.error.message).toContain("WAV or MP3");
  });
});

describe("a picture in a tool's result", () => {
  let count = 0;
  const toolOf = (more: object) => made("/v1/tools", { name: `draw_${count++}`, ...more });
  const asking = async (provider: ConnectionProvider, model: string, tool: { id: string; name: string }) => {
    const own = `${model}-${crypto.randomUUID()}`;
    firstCalls.set(own, tool.name);
    return newAgent(provider, own, { tools: [tool.id], prompt_caching: "off" });
  };
  const inEach: [ConnectionProvider, string, (data: string) => string][] = [
    [
      "anthropic",
      "claude-sonnet-4-5",
      (data) => `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${data}"}}]}]}`,
    ],
    ["openai", "gpt-5", (data) => `{"type":"input_image","image_url":"data:image/png;base64,${data}"}]}]`],
    ["google", "gemini-2.5-pro", (data) => `{"inlineData":{"mimeType":"image/png","data":"${data}"}}`],
    [
      "openai_compatible",
      "any",
      (data) => `{"type":"image_url","image_url":{"url":"data:image/png;base64,${data}"}}]}]`,
    ],
  ];

  test.each(inEach)("of an HTTP tool is a file, and shown to %s", async (provider, model, sent) => {
    const tool = await toolOf({ type: "http", method: "GET", url: at("/chart") });
    const { body } = await run(await asking(provider, model, tool), "Draw.");
    expect(body).toMatchObject({ status: "completed", output: "Seen." });
    expect(lastBody()).toContain(sent(base64(png)));
    const [call] = body.tool_calls;
    expect(call).toMatchObject({ status: "completed", files: [{ mime_type: "image/png", bytes: png.length }] });
    expect(body.messages[2].images).toEqual([{ file_id: call.files[0].id, mime_type: "image/png" }]);
    expect(journalOf(body.id)).not.toContain(base64(png));
    const replay = await client.post(`/v1/runs/${body.id}/replay`, { mode: "verify" });
    expect(replay.body.replay.divergences).toEqual([]);
  });

  test("inside the JSON of an HTTP tool is a file too, and shown to the model instead of its base64", async () => {
    const tool = await toolOf({ type: "http", method: "GET", url: at("/report") });
    const { body } = await run(await asking("openai_compatible", "any", tool), "Draw.");
    const [call] = body.tool_calls;
    const kept = `[image image/png, ${png.length} bytes, kept as ${call.files[0].id}]`;
    expect(call.output).toEqual({ title: "Sales", charts: [{ src: kept }, { src: kept }] });
    expect(lastBody().split(base64(png))).toHaveLength(2);
    expect(journalOf(body.id)).not.toContain(base64(png));
  });

  test("of an MCP server, or of a program, is shown to the model; a file that only has its name is not", async () => {
    const mcp = await made("/v1/tools", { name: "pictures", type: "mcp", server_url: at("/mcp") });
    const source = `() => {
      output.write("chart.png", new Uint8Array(${JSON.stringify([...png])}));
      output.write("fake.png", "no picture");
      return "Drawn.";
    }`;
    const code = await toolOf({ type: "code", source });
    for (const [tool, name] of [
      [mcp, "pictures_snap"],
      [code, code.name],
    ]) {
      const agent_id = await asking("anthropic", "claude-sonnet-4-5", { id: tool.id, name });
      const { body } = await run(agent_id, "Draw.");
      expect([body.status, body.tool_calls[0].error]).toEqual(["completed", null]);
      expect(body.messages[2].images).toHaveLength(1);
      expect(lastBody()).toContain(
        `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${base64(png)}"}}]}]`,
      );
    }
  });

  test("is one of at most eight of a result that the model is shown", async () => {
    const source = `() => {
      for (let n = 0; n < 10; n++) output.write("c" + n + ".png", new Uint8Array([...${JSON.stringify([...png])}, n]));
    }`;
    const agent_id = await asking("openai", "gpt-5", await toolOf({ type: "code", source }));
    const { body } = await run(agent_id, "Draw.");
    expect([body.tool_calls[0].files.length, body.messages[2].images.length]).toEqual([10, 8]);
  });

  test("that a client submits is a file first, by address and as data, and shown to the model", async () => {
    const agent_id = await asking("anthropic", "claude-sonnet-4-5", await toolOf({ type: "client" }));
    const { body } = await run(agent_id, "Draw.");
    const [{ tool_call_id: id }] = body.required_action.submit_tool_outputs.tool_calls;
    const content = [
      { type: "input_text", text: "Two views." },
      { type: "input_image", image_url: at("/a.png") },
      { type: "image", data: base64(jpeg) },
    ];
    const path = `/v1/runs/${body.id}/submit_tool_outputs`;
    const submitted = await client.post(path, { tool_outputs: [{ tool_call_id: id, content }], stream: true });
    expect(submitted.status).toBe(200);
    const ended = (await client.get(`/v1/runs/${body.id}`)).body;
    expect(ended).toMatchObject({ status: "completed", tool_calls: [{ output: "Two views." }] });
    expect(ended.messages[2].images.map(({ mime_type }: { mime_type: string }) => mime_type)).toEqual([
      "image/png",
      "image/jpeg",
    ]);
    expect(lastBody()).toContain(
      `"content":[{"type":"text","text":"Two views."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${base64(png)}"}},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"${base64(jpeg)}"}}]`,
    );
    expect(journalOf(body.id)).not.toContain(base64(png));
    // The same answer again changes nothing, and another one is refused.
    expect((await client.post(path, { tool_outputs: [{ tool_call_id: id, content }] })).status).toBe(200);
    const other = [{ tool_call_id: id, content: content.slice(0, 2) }];
    expect((await client.post(path, { tool_outputs: other })).body.error.code).toBe("tool_call_already_resolved");
  });

  test("that a client submits is refused if it is none, with the path, and the run still waits", async () => {
    const agent_id = await asking("openai", "gpt-5", await toolOf({ type: "client" }));
    const { body } = await run(agent_id, "Draw.");
    const [{ tool_call_id: id }] = body.required_action.submit_tool_outputs.tool_calls;
    const submit = (more: object) =>
      client.post(`/v1/runs/${body.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: id, ...more }] });
    expect(refusal(await submit({ content: [{ type: "image", data: base64(pdf) }] })).slice(0, 3)).toEqual([
      400,
      "unsupported_input",
      "tool_outputs[0].content[0].data",
    ]);
    expect(refusal(await submit({ content: [{ type: "text", text: "a" }], output: "b" }))[2]).toBe(
      "tool_outputs[0].content",
    );
    expect((await client.get(`/v1/runs/${body.id}`)).body.status).toBe("requires_action");
  });

  test("of earlier results that are sent along is shown to the model", async () => {
    const call = { id: "call_1", name: "draw", arguments: {} };
    const input = [
      { role: "user", content: "Draw." },
      { role: "assistant", content: "", tool_calls: [call] },
      {
        role: "tool",
        tool_call_id: "call_1",
        content: [
          { type: "text", text: "Drawn." },
          { type: "image", data: base64(png) },
        ],
      },
      { role: "user", content: "What is on it?" },
    ];
    const { body } = await run(await newAgent("anthropic", "claude-sonnet-4-5"), input);
    expect(body.input[2].content).toEqual([
      { type: "text", text: "Drawn." },
      { type: "image", file_id: expect.any(String) },
    ]);
    expect(lastBody()).toContain(
      `"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"Drawn."},{"type":"image"`,
    );
  });
});

describe("through OpenAI's API,", () => {
  test("a chat's image, document and recording reach the model", async () => {
    const model = await newAgent("google", "gemini-2.5-pro");
    const content = [
      { type: "text", text: "What are these?" },
      { type: "image_url", image_url: { url: at("/a.png"), detail: "high" } },
      { type: "file", file: { filename: "b.pdf", file_data: `data:application/pdf;base64,${base64(pdf)}` } },
      { type: "input_audio", input_audio: { data: base64(wav), format: "wav" } },
    ];
    const answer = await client.post("/openai/v1/chat/completions", { model, messages: [{ role: "user", content }] });
    expect([answer.status, answer.body.choices?.[0].message.content]).toEqual([200, "Seen."]);
    for (const bytes of [png, pdf, wav]) expect(lastBody()).toContain(`"data":"${base64(bytes)}"`);
  });

  test("a fault names the chat's own parameter", async () => {
    const model = await newAgent("openai", "gpt-5");
    const faultOf = async (part: object) => {
      const { status, body } = await client.post("/openai/v1/chat/completions", {
        model,
        messages: [{ role: "user", content: [part] }],
      });
      return [status, body.error.code, body.error.param];
    };
    const place = "messages[0].content[0]";
    expect(await faultOf({ type: "image_url", image_url: { url: at("/none") } })).toEqual([
      400,
      "url_not_fetched",
      `${place}.image_url.url`,
    ]);
    const data = `data:application/pdf;base64,${base64(wav)}`;
    expect(await faultOf({ type: "file", file: { file_data: data } })).toEqual([
      400,
      "unsupported_input",
      `${place}.file.file_data`,
    ]);
    expect(await faultOf({ type: "file", file: { file_id: "file-abc" } })).toEqual([
      400,
      "validation_failed",
      `${place}.file.file_id`,
    ]);
    expect(await faultOf({ type: "input_audio", input_audio: { data: base64(wav), format: "wav" } })).toEqual([
      400,
      "unsupported_input",
      `${place.replace(/\[0\]$/, "")}`,
    ]);
  });

  test("a response's file and image reach the model, and the next response has them too", async () => {
    const model = await newAgent("anthropic", "claude-sonnet-4-5");
    const content = [
      { type: "input_text", text: "What are these?" },
      { type: "input_image", image_url: at("/a.png") },
      { type: "input_file", filename: "b.pdf", file_data: `data:application/pdf;base64,${base64(pdf)}` },
    ];
    const first = await client.post("/openai/v1/responses", { model, input: [{ role: "user", content }] });
    expect(first.status).toBe(200);
    const before = lastBody();
    const next = await client.post("/openai/v1/responses", {
      model,
      input: "And?",
      previous_response_id: first.body.id,
    });
    expect(next.status).toBe(200);
    for (const body of [before, lastBody()]) for (const bytes of [png, pdf]) expect(body).toContain(base64(bytes));
  });

  test("a picture in a function's output reaches the model", async () => {
    const own = `claude-${crypto.randomUUID()}`;
    firstCalls.set(own, "look");
    const model = await newAgent("anthropic", own);
    const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
    const first = await client.post("/openai/v1/responses", { model, input: "Look.", tools });
    const { call_id } = first.body.output.find(({ type }: { type: string }) => type === "function_call");
    const output = [{ type: "input_image", image_url: `data:image/png;base64,${base64(png)}` }];
    const next = await client.post("/openai/v1/responses", {
      model,
      tools,
      previous_response_id: first.body.id,
      input: [{ type: "function_call_output", call_id, output }],
    });
    expect([next.status, next.body.status]).toEqual([200, "completed"]);
    expect(lastBody()).toContain(
      `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${base64(png)}"}}`,
    );
  });
});

test("a record of an earlier version, without pictures of results, gives the same prompt as then", async () => {
  const tool = (await made("/v1/tools", { name: "draw", type: "http", method: "GET", url: at("/chart") })).id;
  const own = `gpt-${crypto.randomUUID()}`;
  firstCalls.set(own, "draw");
  const { body } = await run(await newAgent("openai", own, { tools: [tool] }), "Draw.");
  const { steps } = (await client.get(`/v1/traces/${body.id}?include=prompt,raw`)).body;
  const prompts = steps.flatMap(({ prompt }: Answer["body"]) => prompt ?? []);
  const results = prompts[1].messages.filter(({ role }: PromptMessage) => role === "tool");
  expect(results[0].images).toHaveLength(1);
  expect(JSON.stringify(results)).not.toContain(base64(png));
});

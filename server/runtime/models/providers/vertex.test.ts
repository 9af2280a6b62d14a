import { afterAll, describe, expect, test } from "bun:test";
import { importSPKI, jwtVerify } from "jose";
import { errorOf, outputOf, partsOf } from "../../../testing/model-answers.ts";
import { testServiceAccount } from "../../../testing/service-account.ts";
import type { Connection, ModelEvent, ModelRequest } from "../model.ts";
import { openModel } from "../registry.ts";
import { createTokenSource } from "./google-token.ts";
import { readServiceAccount, type ServiceAccount } from "./service-account.ts";

type Asked = { url: string; path: string; headers: Headers; body: string };
type Answer = (asked: Asked, request: Request) => Response | Promise<Response>;

/** One real server for all tests: each test uses a path of its own, so that tests are independent. */
const answers = new Map<string, (request: Request, body: string) => Response | Promise<Response>>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const answer = answers.get(new URL(request.url).pathname.split("/")[1] ?? "");
    return answer ? answer(request, await request.text()) : new Response("", { status: 500 });
  },
});
afterAll(() => server.stop(true));

const { account: base, publicKey } = testServiceAccount();
/** An account of its own for each test, with the same key: making one takes a while. */
const accountJson = (token_uri: string) => ({
  ...base,
  token_uri,
  client_email: `runnel-${crypto.randomUUID()}@shop-123.iam.gserviceaccount.com`,
});

const hello: ModelRequest = { messages: [{ role: "user", content: "Hello?" }], tools: [], settings: {} };
const weather = {
  name: "weather",
  description: "Tells the weather.",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const image = { file_id: "file_1", mime_type: "image/png", sha256: "0".repeat(64), data: "iVBORw0K" };

const token = (value: string, expires_in = 3599): Answer => () => Response.json({ access_token: value, expires_in, token_type: "Bearer" }); // biome-ignore format: one line

interface Given {
  model?: string;
  /** Answers of the model in turn, the last one again and again. */
  answers: Answer[];
  tokens?: Answer[];
  more?: Partial<Connection>;
  /** Without it, a service account signs. */
  key?: string;
}

async function opened({
  model = "gemini-2.5-flash",
  answers: given,
  tokens = [token("ya29.token-1")],
  more,
  key,
}: Given) {
  const path = crypto.randomUUID();
  const asked: Asked[] = [];
  const minted: Asked[] = [];
  const base_url = `${server.url}${path}/v1`;
  answers.set(path, (request, body) => {
    const { url, headers } = request;
    const each = { url, path: url.slice(base_url.length), headers, body };
    const [list, from] = each.path === "/token" ? [minted, tokens] : [asked, given];
    list.push(each);
    return from[Math.min(list.length, from.length) - 1]!(each, request);
  });
  const account = accountJson(`${base_url}/token`);
  const credential = key === undefined ? { service_account: JSON.stringify(account), location: "europe-west1" } : {};
  const connection = { name: "vertex", provider: "vertex" as const, base_url, api_key: key ?? null };
  const client = await openModel({ ...connection, ...credential, ...more }, model);
  const ask = (request: ModelRequest = hello, signal = new AbortController().signal): Promise<ModelEvent[]> =>
    Array.fromAsync(client.stream(request, signal));
  return { ask, asked, minted, client, account };
}

const sse = (...chunks: unknown[]): Answer => () =>
  new Response(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(""), { headers: { "content-type": "text/event-stream" } }); // biome-ignore format: one line
const counts = { promptTokenCount: 36, candidatesTokenCount: 7, cachedContentTokenCount: 8, thoughtsTokenCount: 5, totalTokenCount: 48 }; // biome-ignore format: one line
const usageMetadata = { ...counts, trafficType: "ON_DEMAND" };
const chunk = (parts: object[], finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
  usageMetadata,
  modelVersion: "gemini-2.5-flash",
  responseId: "r1",
});
const said = (text: string) => sse(chunk([{ text }]), chunk([], "STOP"));
const usage = { input_tokens: 36, output_tokens: 12, cached_input_tokens: 8, reasoning_tokens: 5 };

const project = "/projects/shop-123/locations/europe-west1";

test("an answer of Gemini is streamed, and its usage counts the whole prompt, the cache and the thoughts", async () => {
  const { ask, asked } = await opened({ answers: [sse(chunk([{ text: "Hel" }]), chunk([{ text: "lo." }]), chunk([], "STOP"))] }); // biome-ignore format: one line
  expect(await ask()).toEqual([
    { type: "delta", part: 0, kind: "output", text: "Hel" },
    { type: "delta", part: 0, kind: "output", text: "lo." },
    { type: "done", finish: "stop", usage },
  ]);
  const { path, headers, body } = asked[0]!;
  expect(path).toBe(`${project}/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse`);
  expect([headers.get("authorization"), headers.get("x-goog-api-key")]).toEqual(["Bearer ya29.token-1", null]);
  expect(body).toBe('{"generationConfig":{},"contents":[{"role":"user","parts":[{"text":"Hello?"}]}]}');
});

const user = '"contents":[{"role":"user","parts":[{"text":"Hello?"}]}]';
const schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
const requests: [string, Partial<ModelRequest>, string][] = [
  [
    "limits, sampling, seed and stop sequences",
    { settings: { max_output_tokens: 100, temperature: 0.5, top_p: 0.9, seed: 7, stop: ["END"] } },
    `{"generationConfig":{"maxOutputTokens":100,"temperature":0.5,"topP":0.9,"stopSequences":["END"],"seed":7},${user}}`,
  ],
  [
    "thinking within the length of the answer",
    { settings: { max_output_tokens: 10_000, reasoning_effort: "medium" } },
    `{"generationConfig":{"maxOutputTokens":10000,"thinkingConfig":{"thinkingBudget":3000}},${user}}`,
  ],
  [
    "a schema",
    { output_schema: schema },
    `{"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":${JSON.stringify(schema)}},${user}}`,
  ],
  [
    "images beside the text",
    { messages: [{ role: "user", content: "Hello?", images: [image] }] },
    '{"generationConfig":{},"contents":[{"role":"user","parts":[{"text":"Hello?"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0K"}}]}]}',
  ],
  [
    "tools, one of which must be called",
    { tools: [weather], settings: { tool_choice: "required" } },
    `{"generationConfig":{},${user},"tools":[{"functionDeclarations":[{"name":"weather","description":"Tells the weather.","parametersJsonSchema":{"type":"object","properties":{"city":{"type":"string"}}}}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`,
  ],
];
test.each(requests)("a request to Gemini has %s", async (_, more, expected) => {
  const { ask, asked } = await opened({ answers: [said("Yes.")] });
  expect(outputOf(await ask({ ...hello, ...more }))).toBe("Yes.");
  expect(asked.map(({ body }) => body)).toEqual([expected]);
});

test("thought signatures go back with their calls over three turns of parallel tools", async () => {
  const called = (city: string, thoughtSignature: string) => ({
    functionCall: { name: "weather", args: { city } },
    thoughtSignature,
  });
  const { ask, asked } = await opened({
    model: "gemini-3-pro-preview",
    answers: [
      sse(
        chunk([{ text: "I look.", thought: true }]),
        chunk([called("Oslo", "c2lnMQ=="), { functionCall: { name: "weather", args: { city: "Rome" } } }]),
        chunk([], "STOP"),
      ),
      sse(chunk([called("Bergen", "c2lnMg==")]), chunk([], "STOP")),
      sse(chunk([{ text: "Rain." }]), chunk([{ text: "", thoughtSignature: "c2lnMw==" }], "STOP")),
    ],
  });
  const request: ModelRequest = { ...hello, tools: [weather] };
  for (let turn = 0; turn < 2; turn++) {
    const all = await ask(request);
    expect(all.at(-1)).toMatchObject({ type: "done", finish: "tool_calls" });
    const parts = partsOf(all);
    const results = parts.flatMap((part) =>
      part.type === "tool_call"
        ? [{ role: "tool" as const, call_id: part.id, tool: "weather", output: "Rain.", is_error: false }]
        : [],
    );
    request.messages = [...request.messages, { role: "assistant", parts }, ...results];
  }
  expect(outputOf(await ask(request))).toBe("Rain.");
  const { contents } = JSON.parse(asked[2]!.body);
  expect(JSON.stringify(contents.slice(1))).toBe(
    JSON.stringify([
      { role: "model", parts: [{ text: "I look.", thought: true }, called("Oslo", "c2lnMQ=="), { functionCall: { name: "weather", args: { city: "Rome" } } }] },
      { role: "user", parts: [result, result] },
      { role: "model", parts: [called("Bergen", "c2lnMg==")] },
      { role: "user", parts: [result] },
    ]), // biome-ignore format: as it is sent
  );
});
const result = { functionResponse: { name: "weather", response: { name: "weather", content: "Rain." } } };

const finishes: [string, string][] = [
  ["MAX_TOKENS", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
];
test.each(finishes)("an answer that ends with %s ends with %s", async (reason, finish) => {
  const { ask } = await opened({ answers: [sse(chunk([{ text: "A" }]), chunk([], reason))] });
  expect((await ask()).at(-1)).toMatchObject({ type: "done", finish });
});

const googleError = (code: number, status: string, message: string): Answer => () => Response.json({ error: { code, message, status } }, { status: code }); // biome-ignore format: one line
const faults: [Answer, object][] = [
  [googleError(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), { code: "context_length_exceeded" }],
  [googleError(403, "PERMISSION_DENIED", "Vertex AI API has not been used in project shop-123 before or it is disabled."), { code: "model_not_available", retryable: false, message: expect.stringContaining("has not been used in project") }],
  [() => Response.json([{ error: { code: 403, message: "Permission 'aiplatform.endpoints.predict' denied." } }], { status: 403 }), { code: "model_not_available", message: expect.stringContaining("aiplatform.endpoints.predict") }],
  [googleError(404, "NOT_FOUND", "Publisher Model `x` was not found."), { code: "model_not_available", message: expect.stringContaining("was not found") }],
  [googleError(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later."), { code: "model_rate_limited", retryable: true }],
  [googleError(503, "UNAVAILABLE", "The service is currently unavailable."), { code: "model_error", retryable: true, unready: true }],
  [sse({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }), { retryable: true }],
]; // biome-ignore format: a table
test.each(faults.map(([answer, expected], index) => [index, answer, expected] as const))(
  "a refusal of Google is understood (%d)",
  async (_, answer, expected) => {
    const { ask } = await opened({ answers: [answer] });
    expect(errorOf(await ask())).toMatchObject({ aborted: false, ...expected });
  },
);

test("a cancelled call closes its connection, and ends as aborted", async () => {
  const closed = Promise.withResolvers<void>();
  const { client } = await opened({
    answers: [
      (_, request) => {
        request.signal.addEventListener("abort", () => closed.resolve());
        const start = (controller: ReadableStreamDefaultController) =>
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk([{ text: "Hel" }]))}\n\n`));
        return new Response(new ReadableStream({ start }), { headers: { "content-type": "text/event-stream" } });
      },
    ],
  });
  const cancel = new AbortController();
  const all: ModelEvent[] = [];
  for await (const event of client.stream(hello, cancel.signal)) {
    all.push(event);
    cancel.abort();
  }
  await closed.promise;
  expect(errorOf(all)).toMatchObject({ aborted: true, retryable: false });
});

test("an API key needs neither a project nor a token", async () => {
  const key = "AQ.vertex-key-0123456789";
  const { ask, asked, minted } = await opened({ answers: [said("Yes.")], key });
  expect(outputOf(await ask())).toBe("Yes.");
  const { path, headers } = asked[0]!;
  expect(path).toBe("/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  expect([headers.get("x-goog-api-key"), headers.get("authorization"), minted.length]).toEqual([key, null, 0]);
  const leaky = await opened({ answers: [googleError(403, "PERMISSION_DENIED", `Consumer api_key:${key} is blocked.`), said(key)], key }); // biome-ignore format: one line
  const shown = JSON.stringify([await leaky.ask(), await leaky.ask()]);
  expect([shown.includes(key), shown.includes("is blocked")]).toEqual([false, true]);
});

describe("Claude on Vertex", () => {
  const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  const begin = { type: "message_start", message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } };
  const blocks = (...each: [object, object[]][]) =>
    each.flatMap(([content_block, deltas], index) => [
      { type: "content_block_start", index, content_block },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]);
  const end = (stop_reason: string) => [
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 12 } },
    { type: "message_stop" },
  ];
  const claude = (stop_reason: string, ...each: [object, object[]][]): Answer => () =>
    new Response([begin, ...blocks(...each), ...end(stop_reason)].map(event).join(""), { headers: { "content-type": "text/event-stream" } }); // biome-ignore format: one line
  const text = (value: string): [object, object[]] => [
    { type: "text", text: "" },
    [{ type: "text_delta", text: value }],
  ];

  test("is named in the path, with the API's version in the body", async () => {
    const { ask, asked } = await opened({ model: "claude-sonnet-4-5@20250929", answers: [claude("end_turn", text("Yes."))] });
    const all = await ask({ ...hello, settings: { max_output_tokens: 100 } });
    expect([outputOf(all), all.at(-1)]).toMatchObject(["Yes.", { type: "done", finish: "stop", usage: { input_tokens: 20 } }]);
    expect(asked[0]!.path).toBe(`${project}/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict`);
    expect(asked[0]!.headers.get("authorization")).toBe("Bearer ya29.token-1");
    expect(JSON.parse(asked[0]!.body)).toMatchObject({ anthropic_version: "vertex-2023-10-16", max_tokens: 100, stream: true });
    expect(asked[0]!.body).not.toContain('"model"');
  }); // biome-ignore format: short expectations

  test("may cache the prompt where the agent says so, and tells what it wrote", async () => {
    const message_start = { ...begin, message: { ...begin.message, usage: { input_tokens: 20, output_tokens: 1, cache_read_input_tokens: 100, cache_creation_input_tokens: 30 } } }; // biome-ignore format: one line
    const wrote: Answer = () =>
      new Response([message_start, ...blocks(text("Yes.")), ...end("end_turn")].map(event).join(""), { headers: { "content-type": "text/event-stream" } }); // biome-ignore format: one line
    const { ask, asked } = await opened({ model: "claude-sonnet-4-5@20250929", answers: [wrote] });
    const messages = [{ role: "system" as const, content: "Be brief." }, ...hello.messages];
    const settings = { max_output_tokens: 100 };
    const all = await ask({ ...hello, messages, settings: { ...settings, prompt_caching: "auto" } });
    await ask({ ...hello, messages, settings });
    const mark = { cache_control: { type: "ephemeral" } };
    expect(JSON.parse(asked[0]!.body)).toMatchObject({
      system: [{ type: "text", text: "Be brief.", ...mark }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello?", ...mark }] }],
    });
    expect(all.at(-1)).toMatchObject({ usage: { input_tokens: 150, cached_input_tokens: 100, cache_write_5m_tokens: 30 } });
    expect(asked[1]!.body).not.toContain("cache_control");
  }); // biome-ignore format: short expectations

  test("gets its signed thinking back with the results of tools", async () => {
    const thinking: [object, object[]] = [
      { type: "thinking", thinking: "" },
      [{ type: "thinking_delta", thinking: "I look." }, { type: "signature_delta", signature: "sig1" }], // biome-ignore format: one line
    ];
    const tool: [object, object[]] = [
      { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
      [{ type: "input_json_delta", partial_json: '{"city":"Oslo"}' }],
    ];
    const { ask, asked } = await opened({
      model: "claude-sonnet-4-5@20250929",
      answers: [claude("tool_use", thinking, tool), claude("end_turn", text("Rain."))],
    });
    const settings = { max_output_tokens: 4096, reasoning_effort: "medium" as const };
    const request: ModelRequest = { ...hello, tools: [weather], settings };
    const parts = partsOf(await ask(request));
    const output = { role: "tool" as const, call_id: "call_1", tool: "weather", output: "Rain.", is_error: false };
    const last = await ask({ ...request, messages: [...request.messages, { role: "assistant", parts }, output] });
    expect(outputOf(last)).toBe("Rain.");
    expect(JSON.parse(asked[1]!.body)).toMatchObject({
      max_tokens: 4096,
      thinking: { type: "enabled", budget_tokens: 1280 },
      messages: [
        {},
        { role: "assistant", content: [{ type: "thinking", thinking: "I look.", signature: "sig1" }, { type: "tool_use", id: "call_1" }] }, // biome-ignore format: one line
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
      ],
    });
  });
});

test("models of other companies are called with OpenAI's chat completions", async () => {
  const answer = sse({ choices: [{ index: 0, delta: { content: "Yes." }, finish_reason: "stop" }] });
  const { ask, asked } = await opened({ model: "meta/llama-4-scout-17b-16e-instruct-maas", answers: [answer] });
  expect(outputOf(await ask())).toBe("Yes.");
  expect(asked[0]!.path).toBe(`${project}/endpoints/openapi/chat/completions`);
  expect(asked[0]!.headers.get("authorization")).toBe("Bearer ya29.token-1");
  expect(JSON.parse(asked[0]!.body).model).toBe("meta/llama-4-scout-17b-16e-instruct-maas");
});

test("a tuned model is called at its endpoint", async () => {
  const { ask, asked } = await opened({ model: "endpoints/123", answers: [said("Yes.")] });
  expect(outputOf(await ask())).toBe("Yes.");
  expect(asked[0]!.path).toBe(`${project}/endpoints/123:streamGenerateContent?alt=sse`);
});

const addresses: [string, Partial<Connection>, string][] = [
  ["gemini-2.5-pro", {}, "https://aiplatform.googleapis.com/v1beta1/projects/shop-123/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse"],
  ["google/gemini-2.5-pro", { location: "europe-west1" }, "https://europe-west1-aiplatform.googleapis.com/v1beta1/projects/shop-123/locations/europe-west1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse"],
  ["claude-opus-4-6", { location: "eu", project: "other" }, "https://aiplatform.eu.rep.googleapis.com/v1/projects/other/locations/eu/publishers/anthropic/models/claude-opus-4-6:streamRawPredict"],
  ["gemini-2.5-pro", { base_url: "https://vertex.p.googleapis.com/" }, "https://vertex.p.googleapis.com/v1beta1/projects/shop-123/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse"],
]; // biome-ignore format: a table
test.each(addresses)("%s with %j has the address of its location", async (model, more, address) => {
  const urls: string[] = [];
  const send = async (url: Parameters<typeof fetch>[0]) => {
    urls.push(String(url));
    const body = urls.length === 1 ? { access_token: "ya29.t", expires_in: 3599 } : { error: { message: "no" } };
    return Response.json(body, { status: urls.length === 1 ? 200 : 400 });
  };
  const service_account = JSON.stringify(accountJson("https://oauth2.googleapis.com/token"));
  const connection = { name: "vertex", provider: "vertex" as const, base_url: null, api_key: null, service_account };
  const client = await openModel(
    { ...connection, ...more },
    model,
    Object.assign(send, { preconnect: fetch.preconnect }),
  );
  await Array.fromAsync(client.stream(hello, new AbortController().signal));
  expect(urls).toEqual(["https://oauth2.googleapis.com/token", address]);
});

describe("access tokens", () => {
  test("are granted for a proof that the service account signed, for Google's token server alone", async () => {
    const { ask, minted, account } = await opened({ answers: [said("Yes.")] });
    await ask();
    const form = new URLSearchParams(minted[0]!.body);
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const { payload, protectedHeader } = await jwtVerify(form.get("assertion")!, await importSPKI(publicKey, "RS256"));
    expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT", kid: account.private_key_id });
    expect(payload).toMatchObject({
      iss: account.client_email,
      aud: account.token_uri,
      scope: "https://www.googleapis.com/auth/cloud-platform",
    });
    expect(payload.exp! - payload.iat!).toBe(3600);
  });

  test("are shared by calls that begin together, and by later ones", async () => {
    const { ask, asked, minted } = await opened({ answers: [said("Yes.")] });
    await Promise.all(Array.from({ length: 5 }, () => ask()));
    await ask();
    expect([asked.length, minted.length]).toEqual([6, 1]);
  });

  test("are replaced five minutes before their end, with one request at a time", async () => {
    let now = 0;
    let requests = 0;
    const send = async () => Response.json({ access_token: `token-${++requests}`, expires_in: 3600 });
    const account = readServiceAccount(JSON.stringify(accountJson("https://oauth2.googleapis.com/token")), null);
    const fetched = Object.assign(send, { preconnect: fetch.preconnect });
    const source = createTokenSource(account as ServiceAccount, fetched, () => now);
    const get = () => source.get(new AbortController().signal);
    expect(await Promise.all([get(), get()])).toEqual(["token-1", "token-1"]);
    now = 3_299_999;
    expect(await get()).toBe("token-1");
    now = 3_300_000;
    expect(await Promise.all([get(), get(), get()])).toEqual(["token-2", "token-2", "token-2"]);
    expect(requests).toBe(2);
  });

  test("that Google revoked are replaced once, within the same call", async () => {
    const refused = googleError(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");
    const tokens = [token("ya29.token-1"), token("ya29.token-2")];
    const { ask, asked } = await opened({ answers: [refused, said("Yes.")], tokens });
    expect(outputOf(await ask())).toBe("Yes.");
    expect(asked.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer ya29.token-1", "Bearer ya29.token-2"]); // biome-ignore format: one line
    const always = await opened({ answers: [refused], tokens });
    expect(errorOf(await always.ask())).toMatchObject({ code: "model_not_available", retryable: false });
    expect(always.asked).toHaveLength(2);
  });

  test("that are not granted end the call with the reason, and the model is not asked", async () => {
    const description = "Invalid JWT Signature.";
    const invalid = () => Response.json({ error: "invalid_grant", error_description: description }, { status: 400 });
    const away = () => new Response("", { status: 503 });
    const { ask, asked } = await opened({ answers: [said("Yes.")], tokens: [invalid, away, token("ya29.token-1")] });
    expect(errorOf(await ask())).toMatchObject({
      code: "model_not_available",
      retryable: false,
      message: expect.stringContaining("invalid_grant: Invalid JWT Signature."),
    });
    expect(errorOf(await ask())).toMatchObject({
      code: "model_error",
      retryable: true,
      unready: true,
      request: "not_sent",
    });
    expect(asked).toEqual([]);
    expect(outputOf(await ask())).toBe("Yes.");
  });

  test("are awaited no longer than the caller waits, and the others still get them", async () => {
    const granted = Promise.withResolvers<void>();
    const wait: Answer = async (asked, request) => {
      await granted.promise;
      return token("ya29.token-1")(asked, request);
    };
    const { ask, minted } = await opened({ answers: [said("Yes.")], tokens: [wait] });
    const cancel = new AbortController();
    const [cancelled, other] = [ask(hello, cancel.signal), ask()];
    cancel.abort();
    expect(errorOf(await cancelled)).toMatchObject({ aborted: true });
    granted.resolve();
    expect([outputOf(await other), minted.length]).toEqual(["Yes.", 1]);
  });

  test("and the proofs that they are granted for are in no error and in no answer", async () => {
    const value = "ya29.c.secret-token-0123456789";
    const proofs: string[] = [];
    const echo: Answer = ({ body }) => {
      proofs.push(new URLSearchParams(body).get("assertion") ?? "");
      return Response.json({ error: "invalid_grant", error_description: `Bad: ${proofs[0]}` }, { status: 400 });
    };
    const answers = [
      said(`I know ${value}.`),
      googleError(403, "PERMISSION_DENIED", `No: ${value}`),
      googleError(400, "INVALID_ARGUMENT", `Bad: ${value}`),
    ];
    const { ask } = await opened({ answers, tokens: [echo, token(value)] });
    const shown = JSON.stringify([await ask(), await ask(), await ask(), await ask()]);
    expect([shown.includes(value), proofs.length, shown.includes(proofs[0]!)]).toEqual([false, 1, false]);
    expect(shown).toContain("I know ");
  });
});

describe("a service account's key", () => {
  const google = "https://oauth2.googleapis.com/token";
  test.each<[string, object | string, string | null, string | null]>([
    ["of Google", accountJson(google), null, null],
    ["without a token_uri", { ...accountJson(google), token_uri: undefined }, null, null],
    ["whose token server is the connection's own", accountJson("http://10.0.0.1:8080/token"), "http://10.0.0.1:8080/v1", null],
    ["that sends proofs elsewhere", accountJson("https://evil.example.com/token"), null, "token_uri"],
    ["that sends proofs to a name like Google's", accountJson("https://oauth2.googleapis.com.evil.example/token"), null, "token_uri"],
    ["that sends proofs in clear text", accountJson("http://oauth2.googleapis.com/token"), null, "token_uri"],
    ["of a person", { type: "authorized_user", client_id: "x" }, null, "(authorized_user)"],
    ["of another cloud", { type: "external_account" }, null, "(external_account)"],
    ["without its private key", { ...accountJson(google), private_key: "no key" }, null, "private_key"],
    ["that is no JSON", "{", null, "JSON"],
  ])("%s is accepted or refused with its reason", (_, json, base_url, reason) => {
    const read = readServiceAccount(typeof json === "string" ? json : JSON.stringify(json), base_url);
    if (reason === null) expect(read).toMatchObject({ project_id: "shop-123" });
    else expect(read).toEqual({ message: expect.stringContaining(reason) });
    expect(JSON.stringify(read)).not.toContain("no key");
  }); // biome-ignore format: a table
});

import { afterAll, describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { eventFrame } from "../../../testing/event-stream-frame.ts";
import { callsOf, errorOf, outputOf, partsOf } from "../../../testing/model-answers.ts";
import type { AssistantPart, Connection, ModelEvent, ModelRequest, RequestAdjustment } from "../model.ts";
import { openModel } from "../registry.ts";

type Answer = (request: Request, body: string) => Response | Promise<Response>;

/** One real server for all tests: each test uses a path of its own, so that tests are independent. */
const answers = new Map<string, Answer>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const answer = answers.get(new URL(request.url).pathname.split("/")[1] ?? "");
    return answer ? answer(request, await request.text()) : new Response("", { status: 500 });
  },
});
afterAll(() => server.stop(true));

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const adaptive = "us.anthropic.claude-opus-4-6-v1";
const key = "bedrock-api-key-0123456789abcdef";
const connection = { name: "bedrock", provider: "bedrock" as const, base_url: null, api_key: key, region: "eu-west-1" };

const access = {
  api_key: null,
  access_key_id: "AKIDEXAMPLE0123",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  session_token: "session/token+0123456789==",
};

const auto = { prompt_caching: "auto" as const };
const hello: ModelRequest = { messages: [{ role: "user", content: "Hello?" }], tools: [], settings: {} };
const weather = {
  name: "weather",
  description: "Tells the weather.",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const image = { file_id: "file_1", mime_type: "image/jpeg", sha256: "0".repeat(64), data: "/9j/4AAQ" };

const pdf = (filename: string) => ({
  file_id: "file_2",
  mime_type: "application/pdf",
  sha256: "1".repeat(64),
  filename,
  pages: 1,
  text: "Never sent.",
  data: "JVBERi0=",
});
const drawn: ModelRequest["messages"] = [
  { role: "user", content: "Draw." },
  { role: "assistant", parts: [{ type: "tool_call", id: "call_1", name: "functions.draw", arguments: "{}" }] },
  { role: "tool", call_id: "call_1", tool: "functions.draw", output: "Drawn.", is_error: false, images: [image] },
];

/** Opens a model whose server gives these answers in turn, the last one again and again. */
async function opened(model: string, given: Answer[], more: Partial<Connection> = {}) {
  const path = crypto.randomUUID();
  const asked: { url: string; path: string; headers: Headers; body: string }[] = [];
  answers.set(path, async (request, body) => {
    asked.push({
      url: request.url,
      path: new URL(request.url).pathname.slice(path.length + 1),
      headers: request.headers,
      body,
    });
    return given[Math.min(asked.length, given.length) - 1]!(request, body);
  });
  const client = await openModel({ ...connection, base_url: `${server.url}${path}`, ...more }, model);
  const ask = (request: ModelRequest = hello, signal = new AbortController().signal): Promise<ModelEvent[]> =>
    Array.fromAsync(client.stream(request, signal));
  return { ask, asked, client };
}

const streamOf = (...frames: Uint8Array[]) =>
  new Response(Buffer.concat(frames), { headers: { "content-type": "application/vnd.amazon.eventstream" } });
const stream =
  (...frames: Uint8Array[]): Answer =>
  () =>
    streamOf(...frames);
const fault =
  (status: number, type: string, message: string): Answer =>
  () =>
    Response.json({ message }, { status, headers: { "x-amzn-errortype": `${type}:http://internal.amazon.com/` } });

const block = (contentBlockIndex: number) => ({
  delta: (delta: object) => eventFrame("contentBlockDelta", { contentBlockIndex, delta, p: "abcdefghij" }),
  call: (name: string) =>
    eventFrame("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId: `tooluse_${name}`, name } } }),
  stop: () => eventFrame("contentBlockStop", { contentBlockIndex, p: "abc" }),
});
const start = eventFrame("messageStart", { role: "assistant", p: "abcdef" });
const text = (index: number, ...pieces: string[]) => [
  ...pieces.map((piece) => block(index).delta({ text: piece })),
  block(index).stop(),
];
const call = (index: number, name: string, ...pieces: string[]) => [
  block(index).call(name),
  ...pieces.map((input) => block(index).delta({ toolUse: { input } })),
  block(index).stop(),
];
const thought = (index: number, thinking: string, signature: string) => [
  block(index).delta({ reasoningContent: { text: thinking } }),
  block(index).delta({ reasoningContent: { signature } }),
  block(index).stop(),
];
const usage = { inputTokens: 20, outputTokens: 12, totalTokens: 32 };
const end = (stopReason = "end_turn", counts: object = usage) => [
  eventFrame("messageStop", { stopReason, p: "abcd" }),
  eventFrame("metadata", { usage: counts, metrics: { latencyMs: 642 }, p: "ab" }),
];
const answered = (...frames: Uint8Array[]) => stream(start, ...frames, ...end());
const counted = { input_tokens: 20, output_tokens: 12, cached_input_tokens: null, reasoning_tokens: null };

test("an answer is streamed delta by delta, and its usage counts the whole prompt, with the cache", async () => {
  const cached = { ...usage, cacheReadInputTokens: 1000, cacheWriteInputTokens: 300 };
  const details = { ...cached, cacheDetails: [{ ttl: "1h", inputTokens: 100 }, { ttl: "5m", inputTokens: 200 }] }; // biome-ignore format: one line
  const { ask, asked } = await opened(claude, [stream(start, ...text(0, "Hel", "lo."), ...end("end_turn", details))]);
  expect(await ask({ ...hello, settings: auto })).toEqual([
    { type: "delta", part: 0, kind: "output", text: "Hel" },
    { type: "delta", part: 0, kind: "output", text: "lo." },
    {
      type: "done",
      finish: "stop",
      usage: {
        input_tokens: 1320,
        output_tokens: 12,
        cached_input_tokens: 1000,
        reasoning_tokens: null,
        cache_write_5m_tokens: 200,
        cache_write_1h_tokens: 100,
      },
    },
  ]);
  const { path, headers, body } = asked[0]!;
  expect(path).toBe("/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream");
  expect([headers.get("authorization"), headers.get("content-type")]).toEqual([`Bearer ${key}`, "application/json"]);
  expect(body).toBe('{"messages":[{"role":"user","content":[{"text":"Hello?"},{"cachePoint":{"type":"default"}}]}]}');
});

/** Requests, as they are sent byte by byte. Prompt caching is off, except where it is the subject. */
const off = { prompt_caching: "off" as const };
const user = '"messages":[{"role":"user","content":[{"text":"Hello?"}]}]';
const tool = '{"toolSpec":{"name":"weather","description":"Tells the weather.","inputSchema":{"json":{"type":"object","properties":{"city":{"type":"string"}}}}}}'; // biome-ignore format: as it is sent
const schema = { type: "object", properties: { n: { type: "integer" } }, additionalProperties: false, required: ["n"] };
const requests: [string, string, Partial<ModelRequest>, string][] = [
  [
    "limits, sampling and stop sequences",
    "meta.llama3-3-70b-instruct-v1:0",
    { settings: { max_output_tokens: 100, temperature: 0.5, top_p: 0.9, stop: ["END"] } },
    `{${user},"inferenceConfig":{"maxTokens":100,"temperature":0.5,"topP":0.9,"stopSequences":["END"]}}`,
  ],
  [
    "one of two ways of sampling for Claude, and no more tokens than it can write",
    claude,
    { settings: { ...off, max_output_tokens: 100_000, temperature: 0.5, top_p: 0.9 } },
    `{${user},"inferenceConfig":{"maxTokens":64000,"temperature":0.5}}`,
  ],
  [
    "system prompts apart from the conversation, in their order",
    claude,
    {
      settings: off,
      messages: [{ role: "system", content: "Be brief." }, { role: "system", content: " " }, ...hello.messages],
    },
    `{${user},"system":[{"text":"Be brief."}]}`,
  ],
  ["tools", claude, { settings: off, tools: [weather] }, `{${user},"toolConfig":{"tools":[${tool}]}}`],
  [
    "a tool that must be called",
    claude,
    { settings: { ...off, tool_choice: "required" }, tools: [weather] },
    `{${user},"toolConfig":{"tools":[${tool}],"toolChoice":{"any":{}}}}`,
  ],
  [
    "a tool by its name",
    claude,
    { settings: { ...off, tool_choice: { name: "weather" } }, tools: [weather] },
    `{${user},"toolConfig":{"tools":[${tool}],"toolChoice":{"tool":{"name":"weather"}}}}`,
  ],
  [
    "one call at a time in Claude's own field",
    claude,
    { settings: { ...off, tool_choice: "required", parallel_tool_calls: false }, tools: [weather] },
    `{${user},"toolConfig":{"tools":[${tool}]},"additionalModelRequestFields":{"tool_choice":{"type":"any","disable_parallel_tool_use":true}}}`,
  ],
  ["no tools where none may be called", claude, { settings: { ...off, tool_choice: "none" }, tools: [weather] }, `{${user}}`], // biome-ignore format: one line
  [
    "images beside the text",
    claude,
    { settings: off, messages: [{ role: "user", content: "Hello?", images: [image, { ...image, mime_type: "image/webp" }] }] }, // biome-ignore format: one line
    '{"messages":[{"role":"user","content":[{"text":"Hello?"},{"image":{"format":"jpeg","source":{"bytes":"/9j/4AAQ"}}},{"image":{"format":"webp","source":{"bytes":"/9j/4AAQ"}}}]}]}',
  ],
  [
    "an image without text, since blank texts are refused",
    claude,
    { settings: off, messages: [{ role: "user", content: " ", images: [image] }] },
    '{"messages":[{"role":"user","content":[{"image":{"format":"jpeg","source":{"bytes":"/9j/4AAQ"}}}]}]}',
  ],
  [
    "documents under names that the API takes, each only once, and with a text beside them",
    claude,
    {
      messages: [
        { role: "user", content: "See.", images: [image], documents: [pdf("Q3 – report_v2.pdf"), pdf("Q3 report v2.PDF")] }, // biome-ignore format: one line
        { role: "assistant", parts: [{ type: "text", text: "Yes." }] },
        { role: "user", content: " ", documents: [pdf("报告.pdf")] },
      ],
    },
    '{"messages":[{"role":"user","content":[{"text":"See."},{"image":{"format":"jpeg","source":{"bytes":"/9j/4AAQ"}}},{"document":{"format":"pdf","name":"Q3 report v2","source":{"bytes":"JVBERi0="}}},{"document":{"format":"pdf","name":"Q3 report v2 (2)","source":{"bytes":"JVBERi0="}}}]},{"role":"assistant","content":[{"text":"Yes."}]},{"role":"user","content":[{"text":"(empty)"},{"document":{"format":"pdf","name":"document","source":{"bytes":"JVBERi0="}}}]}]}',
  ],
  [
    "images of a tool with its result",
    claude,
    { tools: [weather], messages: drawn },
    `{"messages":[{"role":"user","content":[{"text":"Draw."}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"call_1","name":"functions_draw","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"call_1","content":[{"text":"Drawn."},{"image":{"format":"jpeg","source":{"bytes":"/9j/4AAQ"}}}]}}]}],"toolConfig":{"tools":[${tool}]}}`,
  ],
  [
    "images of a tool beside its result as a text, in a request without tools",
    claude,
    { messages: drawn },
    '{"messages":[{"role":"user","content":[{"text":"Draw."}]},{"role":"assistant","content":[{"text":"Call of the tool functions.draw: {}"}]},{"role":"user","content":[{"text":"Result of the tool functions.draw: Drawn."},{"image":{"format":"jpeg","source":{"bytes":"/9j/4AAQ"}}}]}]}',
  ],
  [
    "a schema in Claude's own field",
    claude,
    { settings: off, output_schema: schema },
    `{${user},"additionalModelRequestFields":{"output_config":{"format":{"type":"json_schema","schema":${JSON.stringify(schema)}}}}}`,
  ],
  [
    "a schema as a text for other models",
    "qwen.qwen3-235b-a22b-2507-v1:0",
    { output_schema: schema },
    `{${user},"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"name":"output","schema":${JSON.stringify(JSON.stringify(schema))}}}}}}`,
  ],
  [
    "thinking within the length of the answer",
    claude,
    { settings: { ...off, max_output_tokens: 10_000, reasoning_effort: "medium", temperature: 0.5 } },
    `{${user},"inferenceConfig":{"maxTokens":10000},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":3072}}}`,
  ],
  [
    "no thinking where it would leave no room for the answer",
    claude,
    { settings: { ...off, max_output_tokens: 1500, reasoning_effort: "high" } },
    `{${user},"inferenceConfig":{"maxTokens":1500}}`,
  ],
  [
    "an effort for models that choose their thinking",
    adaptive,
    { settings: { ...off, max_output_tokens: 1500, reasoning_effort: "minimal" }, output_schema: schema },
    `{${user},"inferenceConfig":{"maxTokens":1500},"additionalModelRequestFields":{"thinking":{"type":"adaptive"},"output_config":{"effort":"low","format":{"type":"json_schema","schema":${JSON.stringify(schema)}}}}}`,
  ],
  [
    "that such a model must not think",
    adaptive,
    { settings: { ...off, reasoning_effort: "none" } },
    `{${user},"additionalModelRequestFields":{"thinking":{"type":"disabled"}}}`,
  ],
  [
    "no thinking beside a forced tool",
    claude,
    { settings: { ...off, reasoning_effort: "high", tool_choice: "required" }, tools: [weather] },
    `{${user},"toolConfig":{"tools":[${tool}],"toolChoice":{"any":{}}}}`,
  ],
  [
    "OpenAI's effort, and nothing that these models refuse",
    "openai.gpt-oss-120b-1:0",
    { settings: { reasoning_effort: "max", stop: ["END"], temperature: 1 } },
    `{${user},"inferenceConfig":{"temperature":1},"additionalModelRequestFields":{"reasoning_effort":"high"}}`,
  ],
  [
    "Nova's effort below the highest, which takes no limit",
    "amazon.nova-2-lite-v1:0",
    { settings: { ...off, reasoning_effort: "high", max_output_tokens: 100 } },
    `{${user},"inferenceConfig":{"maxTokens":100},"additionalModelRequestFields":{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"medium"}}}`,
  ],
];

test.each(requests)("a request has %s", async (_, model, more, expected) => {
  const { ask, asked } = await opened(model, [answered(...text(0, "Yes."))]);
  expect(outputOf(await ask({ ...hello, ...more }))).toBe("Yes.");
  expect(asked.map(({ body }) => body)).toEqual([expected]);
});

const forced = { tools: [weather], settings: { tool_choice: "required" as const } };
test.each<[string, Partial<ModelRequest>, string[]]>([
  [claude, { settings: { temperature: 0.5, max_output_tokens: 100 } }, []],
  [claude, { settings: { temperature: 0.5, top_p: 0.9, seed: 7 } }, ["top_p", "seed"]],
  [claude, { settings: { temperature: 0.5, reasoning_effort: "high" } }, ["temperature"]],
  [claude, { settings: { max_output_tokens: 100_000 } }, ["max_output_tokens"]],
  [claude, { settings: { max_output_tokens: 100, reasoning_effort: "high" } }, ["reasoning_effort"]],
  [claude, forced, []],
  [claude, { ...forced, settings: { ...forced.settings, parallel_tool_calls: false } }, []],
  [adaptive, { settings: { reasoning_effort: "max" } }, []],
  ["openai.gpt-5.5", { settings: { stop: ["END"], top_p: 0.5, reasoning_effort: "low" } }, ["top_p", "stop"]],
  ["amazon.nova-2-lite-v1:0", { settings: { max_output_tokens: 100, reasoning_effort: "max" } }, ["reasoning_effort"]],
  ["meta.llama3-3-70b-instruct-v1:0", { settings: { reasoning_effort: "low" } }, ["reasoning_effort"]],
  [
    "meta.llama3-3-70b-instruct-v1:0",
    { tools: [weather], settings: { parallel_tool_calls: false } },
    ["parallel_tool_calls"],
  ],
])("%s names the settings of %j that it does not take", async (model, more, expected) => {
  const { client } = await opened(model, [answered(...text(0, "Yes."))]);
  let named: readonly { field: string }[] = [];
  const observer = {
    onByte() {},
    onArguments() {},
    onAdjustments(adjustments: typeof named) {
      named = adjustments;
    },
  };
  await Array.fromAsync(client.stream({ ...hello, ...more }, new AbortController().signal, observer));
  expect(named.map(({ field }) => field)).toEqual(expected);
});

test("an agent's own fields and headers are sent, such as a guardrail of Bedrock, and do not replace ours", async () => {
  const options = { guardrailConfig: { guardrailIdentifier: "gr-1", guardrailVersion: "1" } };
  const body = { additionalModelRequestFields: { top_k: 5 }, messages: [] };
  const secret = "header-secret-0123456789";
  const extras = { options, body, headers: { "x-team": secret, "content-type": "text/plain" }, secrets: [secret] };
  const { ask, asked } = await opened(claude, [answered(...text(0, "Yes."))], access);
  await ask({ ...hello, settings: off, extras });
  expect(asked[0]!.body).toBe(
    `{${user},"additionalModelRequestFields":{"top_k":5},"guardrailConfig":{"guardrailIdentifier":"gr-1","guardrailVersion":"1"}}`,
  );
  const { headers } = asked[0]!;
  expect([headers.get("x-team"), headers.get("content-type")]).toEqual([secret, "application/json"]);
  expect(headers.get("authorization")).toContain("SignedHeaders=host;x-amz-date;x-amz-security-token;x-team,");
});

const conversation: ModelRequest = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "One?" },
    { role: "assistant", parts: [{ type: "text", text: "Yes." }] },
    { role: "user", content: "Two?" },
    { role: "assistant", parts: [{ type: "tool_call", id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' }] },
    { role: "tool", call_id: "call_1", tool: "weather", output: "Rain.", is_error: false },
  ],
  tools: [weather],
  settings: auto,
};
const pointed = (body: string) => body.replaceAll(',{"cachePoint":{"type":"default"}}', "|").replaceAll("\\", "");

describe("cache points", () => {
  test("end the tools, the system prompt and the last two turns of the user, and no more than four", async () => {
    const { ask, asked } = await opened(claude, [answered(...text(0, "Yes."))]);
    await ask(conversation);
    expect(pointed(asked[0]!.body)).toBe(
      `{"messages":[{"role":"user","content":[{"text":"One?"}]},{"role":"assistant","content":[{"text":"Yes."}]},{"role":"user","content":[{"text":"Two?"}|]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"call_1","name":"weather","input":{"city":"Oslo"}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"call_1","content":[{"text":"Rain."}]}}|]}],"system":[{"text":"Be brief."}|],"toolConfig":{"tools":[${tool}|]}}`,
    );
  });

  test("end the system prompt before its first variable, in place of the tools", async () => {
    const { ask, asked } = await opened(claude, [answered(...text(0, "Yes."))]);
    await ask({ ...conversation, settings: { ...auto, stable_length: 3 } });
    const body = pointed(asked[0]!.body);
    expect(body.match(/\|/g)).toHaveLength(4);
    expect(body).toContain(`"system":[{"text":"Be "}|,{"text":"brief."}|],"toolConfig":{"tools":[${tool}]}`);
  });

  test("leave out the turns of the user in a request that no later one continues", async () => {
    const { ask, asked } = await opened(claude, [answered(...text(0, "Yes."))]);
    await ask({ ...conversation, settings: { ...auto, is_last_prompt: true } });
    const body = pointed(asked[0]!.body);
    expect(body.match(/\|/g)).toHaveLength(2);
    expect(body).toContain(`"system":[{"text":"Be brief."}|],"toolConfig":{"tools":[${tool}|]}`);
  });

  test("are not sent without prompt_caching, nor with it off, nor to models without a cache", async () => {
    for (const model of ["meta.llama4-scout-17b-instruct-v1:0", "anthropic.claude-3-haiku-20240307-v1:0"]) {
      const { ask, asked } = await opened(model, [answered(...text(0, "Yes."))]);
      await ask(conversation);
      expect(asked[0]!.body).not.toContain("cachePoint");
    }
    const { ask, asked } = await opened(claude, [answered(...text(0, "Yes."))]);
    await ask({ ...conversation, settings: off });
    await ask({ ...conversation, settings: {} });
    for (const { body } of asked) expect(body).not.toContain("cachePoint");
  });

  test("follow neither tools nor results for Nova, which refuses them there", async () => {
    const { ask, asked } = await opened("eu.amazon.nova-pro-v1:0", [answered(...text(0, "Yes."))]);
    await ask(conversation);
    const body = pointed(asked[0]!.body);
    expect(body.match(/\|/g)).toHaveLength(3);
    expect(body).toContain('{"text":"One?"}|]');
    expect(body).toContain('{"text":"Two?"}|]');
    expect(body).toContain('{"text":"Be brief."}|]');
  });

  test("are left out of all later requests once a model has refused them", async () => {
    const message = "You invoked an unsupported model or your request did not allow prompt caching.";
    const yes = answered(...text(0, "Yes."));
    const { ask, asked } = await opened(claude, [fault(403, "AccessDeniedException", message), yes]);
    const request = { ...hello, settings: auto };
    expect(outputOf(await ask(request))).toBe("Yes.");
    expect(outputOf(await ask(request))).toBe("Yes.");
    expect(asked.map(({ body }) => body.includes("cachePoint"))).toEqual([true, false, false]);
  });

  test("that were refused are named in the trace of each request that would have had them, and of no other", async () => {
    const refused = fault(400, "ValidationException", "This model doesn't support the cachePoint field.");
    const { client } = await opened(claude, [refused, answered(...text(0, "Yes."))]);
    const named: (readonly RequestAdjustment[])[] = [];
    for (const settings of [auto, auto, off]) {
      let last: readonly RequestAdjustment[] = [];
      const observer = {
        onByte() {},
        onArguments() {},
        onAdjustments(adjustments: readonly RequestAdjustment[]) {
          last = adjustments;
        },
      };
      await Array.fromAsync(client.stream({ ...hello, settings }, new AbortController().signal, observer));
      named.push(last);
    }
    const message = "The model refused cache points, so the prompt was sent without them.";
    expect(named).toEqual([[{ field: "prompt_caching", message }], [{ field: "prompt_caching", message }], []]);
  });
});

test("parallel calls whose pieces are interleaved stay apart, with all digits of their arguments", async () => {
  const [one, two] = [block(1), block(2)];
  const { ask } = await opened(claude, [
    stream(
      start,
      ...text(0, "Let me look."),
      one.call("weather"),
      two.call("time"),
      two.delta({ toolUse: { input: '{"id":12345678901234567890' } }),
      one.delta({ toolUse: { input: '{"city":' } }),
      one.delta({ toolUse: { input: '"Oslo"}' } }),
      two.delta({ toolUse: { input: "}" } }),
      one.stop(),
      two.stop(),
      ...end("tool_use"),
    ),
  ]);
  const all = await ask({ ...hello, tools: [weather] });
  expect(callsOf(all)).toEqual([
    [1, "weather", '{"city":"Oslo"}'],
    [2, "time", '{"id":12345678901234567890}'],
  ]);
  expect(all.at(-1)).toEqual({ type: "done", finish: "tool_calls", usage: counted });
});

test("signed and encrypted reasoning goes back unchanged over three turns of tools", async () => {
  const sealed = Buffer.from("sealed thoughts").toString("base64");
  const { ask, asked } = await opened(claude, [
    stream(start, ...thought(0, "I look.", "sig+1=="), ...call(1, "weather", '{"city":"Oslo"}'), ...end("tool_use")),
    stream(
      start,
      block(0).delta({ reasoningContent: { redactedContent: sealed } }),
      block(0).stop(),
      ...call(1, "weather", '{"city":"Bergen"}'),
      ...end("tool_use"),
    ),
    answered(...thought(0, "Both.", "sig3"), ...text(1, "Rain.")),
  ]);
  const settings = { ...off, max_output_tokens: 4096, reasoning_effort: "medium" as const };
  const request: ModelRequest = { ...hello, tools: [weather], settings };
  for (const output of ["Rain.", "Rain too."]) {
    const parts = partsOf(await ask(request));
    const result = { role: "tool" as const, call_id: "call_1", tool: "weather", output, is_error: false };
    request.messages = [...request.messages, { role: "assistant", parts }, result];
  }
  const last = await ask(request);
  expect([outputOf(last, "reasoning"), outputOf(last)]).toEqual(["Both.", "Rain."]);
  const result = (output: string) =>
    `{"role":"user","content":[{"toolResult":{"toolUseId":"call_1","content":[{"text":"${output}"}]}}]}`;
  const used = (city: string) => `{"toolUse":{"toolUseId":"call_1","name":"weather","input":{"city":"${city}"}}}`;
  const signed = '{"reasoningContent":{"reasoningText":{"text":"I look.","signature":"sig+1=="}}}';
  const encrypted = `{"reasoningContent":{"redactedContent":"${sealed}"}}`;
  const first = `${user.slice(0, -1)},{"role":"assistant","content":[${signed},${used("Oslo")}]},${result("Rain.")}`;
  const config = `"inferenceConfig":{"maxTokens":4096},"toolConfig":{"tools":[${tool}]},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1280}}}`;
  expect(asked.map(({ body }) => body)).toEqual([
    `{${user},${config}`,
    `{${first}],${config}`,
    `{${first},{"role":"assistant","content":[${encrypted},${used("Bergen")}]},${result("Rain too.")}],${config}`,
  ]);
});

test("a budget that a run uses up changes thinking in steps only, which keep the cache of the conversation", async () => {
  const { ask, asked } = await opened(claude, [answered(...text(0, "Yes."))]);
  for (const max_output_tokens of [10_000, 9900, 9500])
    await ask({ ...hello, settings: { ...off, max_output_tokens, reasoning_effort: "medium" } });
  const budgets = asked.map(({ body }) => JSON.parse(body).additionalModelRequestFields.thinking.budget_tokens);
  expect(budgets).toEqual([3072, 3072, 3072]);
});

test("reasoning of another model, or without a signature, is not sent back", async () => {
  const unsigned = stream(
    start,
    block(0).delta({ reasoningContent: { text: "Hm." } }),
    block(0).stop(),
    ...text(1, "Yes."),
    ...end(),
  );
  const gpt = await opened("openai.gpt-oss-20b-1:0", [unsigned]);
  const parts = partsOf(await gpt.ask());
  expect(parts.map(({ type }) => type)).toEqual(["reasoning", "text"]);
  const foreign: AssistantPart[] = [
    { type: "reasoning", text: "Hm.", metadata: { anthropic: { signature: "sig" } } },
    { type: "reasoning", text: "Hm.", metadata: { bedrock: { family: "nova_2", signature: "sig" } } },
    { type: "text", text: "Yes." },
  ];
  const { ask, asked } = await opened(claude, [answered(...text(0, "Yes."))]);
  for (const each of [parts, foreign])
    await ask({ ...hello, settings: off, messages: [...hello.messages, { role: "assistant", parts: each }] });
  const body =
    '{"messages":[{"role":"user","content":[{"text":"Hello?"}]},{"role":"assistant","content":[{"text":"Yes."}]}]}';
  expect(asked.map((each) => each.body)).toEqual([body, body]);
});

test("a turn of tool calls that another model began goes on without thinking, which would have to begin it", async () => {
  const { ask, asked } = await opened(claude, [answered(...text(0, "Rain."))]);
  await ask({ ...conversation, settings: { ...off, max_output_tokens: 4096, reasoning_effort: "high" } });
  expect(asked[0]!.body).not.toContain("thinking");
});

test("calls become text in a request without tools, which Bedrock would refuse", async () => {
  const { ask, asked } = await opened(claude, [answered(...text(0, "Rain."))]);
  for (const more of [{ tools: [] }, { settings: { ...off, tool_choice: "none" as const } }])
    await ask({ ...conversation, settings: off, ...more });
  const body = `{"messages":[{"role":"user","content":[{"text":"One?"}]},{"role":"assistant","content":[{"text":"Yes."}]},{"role":"user","content":[{"text":"Two?"}]},{"role":"assistant","content":[{"text":"Call of the tool weather: {\\"city\\":\\"Oslo\\"}"}]},{"role":"user","content":[{"text":"Result of the tool weather: Rain."}]}],"system":[{"text":"Be brief."}]}`;
  expect(asked.map((each) => each.body)).toEqual([body, body]);
});

test("ids, names, blank outputs and turns of one role are mended before they are refused", async () => {
  const id = "an id: with spaces";
  const messages: ModelRequest["messages"] = [
    { role: "assistant", parts: [{ type: "text", text: "Hello!" }] },
    { role: "user", content: "One" },
    { role: "user", content: "" },
    { role: "assistant", parts: [{ type: "tool_call", id, name: "look up!", arguments: "{broken" }] },
    { role: "tool", call_id: id, tool: "look up!", output: " ", is_error: true },
    { role: "user", content: "Two" },
  ];
  const bodies: { messages: { role: string; content: Record<string, { toolUseId?: string }>[] }[] }[] = [];
  for (const model of [claude, "mistral.mistral-large-3-675b-instruct"]) {
    const { ask, asked } = await opened(model, [answered(...text(0, "Yes."))]);
    await ask({ messages, tools: [weather], settings: off });
    bodies.push(JSON.parse(asked[0]!.body));
  }
  const [first, mistral] = bodies.map((each) => each.messages);
  expect(first!.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  const toolUseId = first![3]!.content[0]!.toolUse!.toolUseId!;
  expect(toolUseId).toMatch(/^call_[a-z0-9]{24}$/);
  expect(first!.slice(2)).toEqual([
    { role: "user", content: [{ text: "One" }, { text: "(empty)" }] },
    { role: "assistant", content: [{ toolUse: { toolUseId, name: "look_up_", input: { unreadable_arguments: "{broken" } } }] },
    { role: "user", content: [{ toolResult: { toolUseId, content: [{ text: "(empty)" }], status: "error" } }, { text: "Two" }] },
  ] as unknown as typeof first & object); // biome-ignore format: as they are sent
  const ids = [mistral![3]!.content[0]!.toolUse!.toolUseId, mistral![4]!.content[0]!.toolResult!.toolUseId];
  expect(ids[0]).toMatch(/^[a-z0-9]{9}$/);
  expect(ids[1]).toBe(ids[0]!);
});

const finishes: [string, Uint8Array[], ModelEvent[]][] = [
  ["a stop sequence", [...text(0, "A"), ...end("stop_sequence")], [{ type: "done", finish: "stop", usage: counted }]],
  ["its length", [...text(0, "A"), ...end("max_tokens")], [{ type: "done", finish: "length", usage: counted }]],
  ["the context window", [...text(0, "A"), ...end("model_context_window_exceeded")], [{ type: "done", finish: "length", usage: counted }]],
  ["a guardrail", [...text(0, "A"), ...end("guardrail_intervened")], [{ type: "done", finish: "content_filter", usage: counted }]],
  ["a filter", [...text(0, "A"), ...end("content_filtered")], [{ type: "done", finish: "content_filter", usage: counted }]],
]; // biome-ignore format: a table
test.each(finishes)("an answer that ends with %s says so", async (_, frames, last) => {
  const { ask } = await opened(claude, [stream(start, ...frames)]);
  const all = await ask();
  expect([outputOf(all), all.slice(-1)]).toEqual(["A", last]);
});

test("a call that the end of the answer cut off is reported with the arguments that came", async () => {
  const cut = [block(0).call("weather"), block(0).delta({ toolUse: { input: '{"city":"Os' } })];
  const { ask } = await opened(claude, [stream(start, ...cut, ...end("max_tokens"))]);
  const all = await ask({ ...hello, tools: [weather] });
  expect(callsOf(all)).toEqual([[0, "weather", '{"city":"Os']]);
  expect(all.at(-1)).toMatchObject({ type: "done", finish: "length" });
});

test("a model that cannot stream is asked for a whole answer", async () => {
  const content = [
    { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } },
    { text: "In one piece." },
    { toolUse: { toolUseId: "tooluse_1", name: "weather", input: { id: 1 } } },
  ];
  const output = { message: { role: "assistant", content } };
  const { ask, asked } = await opened(claude, [
    stream(),
    () => Response.json({ output, stopReason: "tool_use", usage, metrics: { latencyMs: 1 } }),
  ]);
  const all = await ask({ ...hello, tools: [weather] });
  expect(asked.map(({ path }) => path.split("/").at(-1))).toEqual(["converse-stream", "converse"]);
  expect([outputOf(all, "reasoning"), outputOf(all), callsOf(all)]).toEqual([
    "Hm.",
    "In one piece.",
    [[2, "weather", '{"id":1}']],
  ]);
  expect(all).toContainEqual({
    type: "metadata",
    part: 0,
    metadata: { bedrock: { family: "anthropic", signature: "sig" } },
  });
  expect(all.at(-1)).toEqual({ type: "done", finish: "tool_calls", usage: counted });
});

test("a schema that a model refuses is told in the prompt, and a model without schemas is not asked with one", async () => {
  const refused = fault(400, "ValidationException", "This model doesn't support the outputConfig.textFormat field.");
  const yes = answered(...text(0, '{"n":1}'));
  const llama = await opened("meta.llama3-3-70b-instruct-v1:0", [refused, yes]);
  for (let round = 0; round < 2; round++)
    expect(outputOf(await llama.ask({ ...hello, output_schema: schema }))).toBe('{"n":1}');
  expect(llama.asked.map(({ body }) => [body.includes("outputConfig"), body.includes("It must fit")])).toEqual([
    [true, false],
    [false, true],
    [false, true],
  ]);
  const early = await opened("anthropic.claude-3-haiku-20240307-v1:0", [yes]);
  expect(outputOf(await early.ask({ ...hello, output_schema: schema }))).toBe('{"n":1}');
  expect(early.asked.map(({ body }) => body.includes("It must fit"))).toEqual([true]);
});

const faults: [number, string, string, object][] = [
  [400, "ValidationException", "Input is too long for requested model.", { code: "context_length_exceeded", retryable: false }],
  [400, "ValidationException", "The model returned the following errors: prompt is too long: 208310 tokens > 200000 maximum", { code: "context_length_exceeded" }],
  [400, "ValidationException", "Input Tokens Exceeded: Number of input tokens exceeds maximum length", { code: "context_length_exceeded" }],
  [400, "ValidationException", "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279", { code: "context_length_exceeded" }],
  [400, "ValidationException", "Malformed input request: expected maxLength: 50000, actual: 52611, please reformat your input", { code: "context_length_exceeded" }],
  [400, "ValidationException", "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt", { code: "context_length_exceeded" }],
  [400, "ValidationException", "The text field in the ContentBlock object is blank.", { code: "model_error", retryable: false }],
  [400, "ValidationException", "The provided model identifier is invalid.", { code: "model_not_available", message: expect.stringContaining("identifier is invalid") }],
  [400, "ValidationException", "Invocation of model ID x with on-demand throughput isn’t supported. Retry with an inference profile.", { code: "model_not_available", message: expect.stringContaining("inference profile") }],
  [403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", { code: "model_not_available", retryable: false, message: expect.stringContaining("don't have access to the model") }],
  [403, "ExpiredTokenException", "The security token included in the request is expired", { code: "model_not_available", message: expect.stringContaining("has expired") }],
  [403, "UnrecognizedClientException", "The security token included in the request is invalid.", { code: "model_not_available", message: expect.stringContaining("refused the credentials") }],
  [404, "ResourceNotFoundException", "No such profile.", { code: "model_not_available", retryable: false }],
  [429, "ThrottlingException", "Too many tokens, please wait before trying again.", { code: "model_rate_limited", retryable: true }],
  [429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", { code: "model_rate_limited", retryable: false }],
  [429, "ModelNotReadyException", "The model is not ready.", { code: "model_error", retryable: true, unready: true }],
  [503, "ServiceUnavailableException", "Bedrock is unable to process your request.", { code: "model_error", retryable: true, unready: true }],
  [424, "ModelErrorException", "The model failed.", { code: "model_error", retryable: true }],
  [408, "ModelTimeoutException", "The model took too long.", { code: "model_error", retryable: true }],
  [500, "InternalServerException", "An error.", { code: "model_error", retryable: true }],
]; // biome-ignore format: a table
test.each(faults)("HTTP %d with %s (%s) is understood", async (status, type, message, expected) => {
  const { ask } = await opened("cohere.command-r-v1:0", [fault(status, type, message)]);
  const error = errorOf(await ask());
  expect(error).toMatchObject({ aborted: false, ...expected });
});

test("an exception named in the body, or with a capital Message, is understood too", async () => {
  const answers: Answer[] = [
    () => Response.json({ __type: "com.amazon.coral.availability#ThrottlingException" }, { status: 429 }),
    () => Response.json({ Message: "User: arn:aws:iam::1:user/x is not authorized", __type: "AccessDeniedException" }, { status: 403 }), // biome-ignore format: one line
    () => Response.json({ Output: { __type: "com.amazon.coral.service#UnknownOperationException" }, Version: "1.0" }),
    () => new Response("<html>Bad gateway</html>", { status: 502 }),
  ];
  const errors = [];
  for (const answer of answers) errors.push(errorOf(await (await opened(claude, [answer])).ask()));
  expect(errors.map(({ code, unready = false }) => [code, unready])).toEqual([
    ["model_rate_limited", false],
    ["model_not_available", false],
    ["model_not_available", false],
    ["model_error", true],
  ]);
  expect(errors[1]!.message).toContain("is not authorized");
});

const exceptions: [string, object, object][] = [
  ["throttlingException", { message: "Too many requests." }, { code: "model_rate_limited", retryable: true }],
  ["modelStreamErrorException", { message: "Model error.", originalMessage: "GPU lost", originalStatusCode: 500 }, { code: "model_error", retryable: true, message: expect.stringContaining("GPU lost") }],
  ["internalServerException", { message: "Internal." }, { code: "model_error", retryable: true }],
  ["serviceUnavailableException", { message: "Away." }, { code: "model_error", retryable: true }],
  ["validationException", { message: "Input is too long for requested model." }, { code: "context_length_exceeded", retryable: false }],
  ["validationException", { message: "Bad field." }, { code: "model_error", retryable: false }],
]; // biome-ignore format: a table
test.each(exceptions)("a %s within the stream ends the answer once: %j", async (type, payload, expected) => {
  for (const kind of ["exception", "event"] as const) {
    const { ask } = await opened(claude, [
      stream(start, block(0).delta({ text: "Hel" }), eventFrame(type, payload, kind)),
    ]);
    const all = await ask();
    expect(outputOf(all)).toBe("Hel");
    expect(errorOf(all)).toMatchObject({ ...expected, request: "sent", unready: false });
    expect(all.filter((event) => event.type === "error" || event.type === "done")).toHaveLength(1);
  }
});

describe("a damaged stream", () => {
  const whole = Buffer.concat([start, ...text(0, "Hel"), ...text(1, "lo."), ...end()]);
  const sent = (bytes: Uint8Array) => opened(claude, [() => streamOf(bytes)]);

  test("with a wrong checksum is refused and can be repeated", async () => {
    for (const at of [9, start.length + 30, start.length + 60]) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 1;
      const error = errorOf(await (await sent(bytes)).ask());
      expect([error.code, error.retryable]).toEqual(["model_error", true]);
    }
  });

  test("with an impossible length is refused before it fills the memory", async () => {
    const error = errorOf(await (await sent(Buffer.from("data: this is no event stream\n\n".repeat(100)))).ask());
    expect([error.code, error.retryable]).toEqual(["model_error", true]);
  });

  test("that ends before its finish reason is incomplete", async () => {
    for (const length of [whole.length - 400, start.length + 20]) {
      const all = await (await sent(whole.subarray(0, length))).ask();
      expect(errorOf(all)).toMatchObject({ code: "model_incomplete", retryable: true });
    }
  });

  test("that breaks after its finish reason is whole, with unknown usage", async () => {
    const [finish, metadata] = end() as [Uint8Array, Uint8Array];
    const bytes = Buffer.concat([start, ...text(0, "Hello."), finish, metadata.subarray(0, 20)]);
    const all = await (await sent(bytes)).ask();
    expect(outputOf(all)).toBe("Hello.");
    expect(all.at(-1)).toMatchObject({ type: "done", finish: "stop", usage: { input_tokens: null } });
  });

  test("is assembled from single bytes, also within characters", async () => {
    const bytes = Buffer.concat([start, ...text(0, "Grüße, 世界 🌍👩‍🚀!"), ...end()]);
    const { ask } = await opened(claude, [
      () => {
        let at = 0;
        const pull = (controller: ReadableStreamDefaultController) =>
          at < bytes.length ? controller.enqueue(Uint8Array.of(bytes[at++]!)) : controller.close();
        return new Response(new ReadableStream({ pull }));
      },
    ]);
    expect(outputOf(await ask())).toBe("Grüße, 世界 🌍👩‍🚀!");
  });
});

test("a cancelled call closes its connection, and ends as aborted", async () => {
  const closed = Promise.withResolvers<void>();
  const { client } = await opened(claude, [
    (request) => {
      request.signal.addEventListener("abort", () => closed.resolve());
      const start = (controller: ReadableStreamDefaultController) =>
        controller.enqueue(Buffer.concat([block(0).delta({ text: "Hel" })]));
      return new Response(new ReadableStream({ start }));
    },
  ]);
  const cancel = new AbortController();
  const all: ModelEvent[] = [];
  for await (const event of client.stream(hello, cancel.signal)) {
    all.push(event);
    cancel.abort();
  }
  await closed.promise;
  expect(errorOf(all)).toMatchObject({ aborted: true, retryable: false });
});

test("no part of a credential is in an error or in an answer", async () => {
  const secrets = [access.access_key_id, access.secret_access_key, access.session_token, key];
  const leak = secrets.join(" and ");
  for (const more of [access, {}]) {
    const shown: string[] = [];
    for (const answer of [
      fault(403, "AccessDeniedException", `Denied for ${leak}`),
      fault(400, "ValidationException", `The Canonical String should have been ${leak}`),
      answered(...text(0, ...leak.split(/(?<=.{7})/)), ...call(1, "weather", JSON.stringify({ leak }))),
    ])
      shown.push(JSON.stringify(await (await opened(claude, [answer], more)).ask()));
    const own = more === access ? secrets.slice(0, 3) : [key];
    for (const secret of own) expect(shown.join("")).not.toContain(secret);
    expect(shown[2]).toContain("[hidden]");
  }
});

describe("Signature Version 4", () => {
  const session =
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
  // Cases of AWS's public test suite: get-vanilla, post-vanilla, post-sts-header-before.
  test.each([
    ["GET", undefined, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    ["POST", undefined, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
    ["POST", session, "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"],
  ])("%s is signed as in AWS's test suite", async (method, sessionToken, signature) => {
    const signer = new AwsV4Signer({
      method,
      url: "https://example.amazonaws.com/",
      accessKeyId: "AKIDEXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
      ...(sessionToken !== undefined && { sessionToken }),
      service: "service",
      region: "us-east-1",
      datetime: "20150830T123600Z",
    });
    expect(await signer.signature()).toBe(signature);
  });

  test.each([
    claude,
    "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3",
    "model with (odd) 'signs'!*~",
  ])("a request for %s is signed as AWS computes it from what arrives", async (model) => {
    const { ask, asked } = await opened(model, [answered(...text(0, "Yes."))], access);
    expect(outputOf(await ask({ ...hello, messages: [{ role: "user", content: "Grüße 🌍" }] }))).toBe("Yes.");
    const { headers, body } = asked[0]!;
    const [, scope = "", signedHeaders = "", signature] =
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE0123\/(.+), SignedHeaders=(.+), Signature=(\w{64})$/.exec(
        headers.get("authorization") ?? "",
      ) ?? [];
    expect(signedHeaders).toBe("host;x-amz-date;x-amz-security-token");
    const [date = "", region = "", service = ""] = scope.split("/");
    expect([region, service, headers.get("x-amz-security-token")]).toEqual(["eu-west-1", "bedrock", access.session_token]); // biome-ignore format: one line
    const hash = (value: string) => createHash("sha256").update(value).digest("hex");
    const mac = (secret: string | Buffer, value: string) => createHmac("sha256", secret).update(value).digest();
    const encoded = (part: string) =>
      encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
    const url = new URL(asked[0]!.url);
    const canonical = [
      "POST",
      url.pathname.split("/").map(encoded).join("/"),
      "",
      ...signedHeaders.split(";").map((name) => `${name}:${headers.get(name)}`),
      "",
      signedHeaders,
      hash(body),
    ].join("\n");
    const toSign = ["AWS4-HMAC-SHA256", headers.get("x-amz-date"), scope, hash(canonical)].join("\n");
    const secret = [date, region, service, "aws4_request"].reduce<string | Buffer>(
      mac,
      `AWS4${access.secret_access_key}`,
    );
    expect(signature).toBe(mac(secret, toSign).toString("hex"));
  });
});

import { describe, expect, test } from "bun:test";
import { converse } from "../../testing/model-conversation.ts";
import type { ModelRequest } from "./model.ts";
import { openModel } from "./registry.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies of requests, as a server reads them.
type Body = any;
type Chunk = Record<string, unknown>;

const chunk = (delta: object, finish_reason: string | null = null): Chunk => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "stub",
  choices: [{ index: 0, delta, finish_reason }],
});
const usage: Chunk = {
  ...chunk({}),
  choices: [],
  usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
};
const look = { index: 0, id: "abc123def", type: "function", function: { name: "look", arguments: '{"city":"Oslo"}' } };
const calls = (...deltas: object[]) => [...deltas.map((each) => chunk(each)), chunk({}, "tool_calls"), usage];
const said = (text: string) => [chunk({ role: "assistant", content: text }), chunk({}, "stop"), usage];

const stream = (chunks: Chunk[]) =>
  new Response(`${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("")}data: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
const refuse = (body: unknown, status = 400) => Response.json(body, { status });
const resultsIn = ({ messages }: Body): number => messages.filter(({ role }: Body) => role === "tool").length;

/** Answers with these chunks first, and with the number of results once there are any. */
const turn = (body: Body, ...deltas: object[]) =>
  stream(resultsIn(body) > 0 ? said(`read ${resultsIn(body)}`) : calls(...deltas));
const call = { tool_calls: [look] };
const hello = () => stream(said("Hello wörld €😀"));
const withField = ({ messages }: Body, field: string): number => messages.findIndex((each: Body) => field in each);
const invalid = (message: string, more: object = {}) =>
  refuse({ error: { message, type: "invalid_request_error", ...more } });

interface Case {
  name: string;
  does: string;
  answer(body: Body): Response;
  settings?: ModelRequest["settings"];
  output?: string;
  says: string;
  /** Fields of the adjustments of the last call. */
  adjusted?: string[];
  /** Number of requests of the first conversation, and of a second one with the same model. */
  requests: [number, number];
}

const cases: Case[] = [
  {
    name: "call-ids",
    does: "takes ids of nine letters and digits only",
    answer(body) {
      const ids = body.messages.flatMap((each: Body) => [
        ...(each.tool_calls ?? []).map(({ id }: Body) => id),
        ...(each.tool_call_id ? [each.tool_call_id] : []),
      ]);
      const bad = ids.find((id: string) => !/^[a-zA-Z0-9]{9}$/.test(id));
      const message = `Tool call id was ${bad} but must be a-z, A-Z, 0-9, with a length of 9.`;
      if (bad) return refuse({ object: "error", message, type: "invalid_function_call", param: null, code: "3280" });
      return turn(body, call);
    },
    says: "read 1",
    adjusted: ["tool_call_id"],
    requests: [3, 2],
  },
  {
    name: "reasoning-field",
    does: "sends reasoning and refuses reasoning_content",
    answer(body) {
      const i = withField(body, "reasoning_content");
      const reason = `('messages.${i}' : property 'reasoning_content' is unsupported)`;
      if (i >= 0) return invalid(`'messages.${i}' : for 'role:assistant' the following must be satisfied[${reason}]`);
      return turn(body, { role: "assistant", reasoning: "I should look." }, call);
    },
    says: "read 1",
    requests: [2, 2],
  },
  {
    name: "reasoning-parts",
    does: "sends reasoning as parts of the content and refuses fields that it does not know",
    answer(body) {
      const i = withField(body, "reasoning_content");
      const loc = ["body", "messages", i, "assistant", "reasoning_content"];
      const detail = [{ type: "extra_forbidden", loc, msg: "Extra inputs are not permitted", input: "x" }];
      if (i >= 0) return refuse({ detail }, 422);
      const thinking = [{ type: "thinking", thinking: [{ type: "text", text: "I should look." }] }];
      return turn(body, { role: "assistant", content: thinking }, call);
    },
    says: "read 1",
    requests: [2, 2],
  },
  {
    name: "reasoning-refused",
    does: "sends reasoning_content and refuses it in a request",
    answer(body) {
      const i = withField(body, "reasoning_content");
      if (i >= 0) return invalid(`messages[${i}]: unknown field reasoning_content`, { param: "messages" });
      return turn(body, { role: "assistant", reasoning_content: "I should look." }, call);
    },
    says: "read 1",
    adjusted: ["reasoning"],
    requests: [3, 2],
  },
  {
    name: "limit",
    does: "takes max_completion_tokens in place of max_tokens",
    answer(body) {
      if (!("max_tokens" in body)) return hello();
      const message =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
      return invalid(message, { param: "max_tokens", code: "unsupported_parameter" });
    },
    settings: { max_output_tokens: 50 },
    says: "Hello wörld €😀",
    adjusted: ["max_tokens"],
    requests: [2, 1],
  },
  {
    name: "stream-options",
    does: "refuses stream_options with a path",
    answer(body) {
      if (!("stream_options" in body)) return hello();
      const loc = ["body", "stream_options"];
      const msg = "Extra inputs are not permitted";
      return refuse({ detail: [{ type: "extra_forbidden", loc, msg, input: { include_usage: true } }] }, 422);
    },
    says: "Hello wörld €😀",
    adjusted: ["stream_options"],
    requests: [2, 1],
  },
  {
    name: "stream-options-unknown",
    does: "refuses stream_options in a sentence",
    answer: (body) =>
      "stream_options" in body
        ? invalid("Unrecognized request argument supplied: stream_options", { param: null, code: null })
        : hello(),
    says: "Hello wörld €😀",
    adjusted: ["stream_options"],
    requests: [2, 1],
  },
  {
    name: "temperature",
    does: "takes its default temperature only",
    answer(body) {
      if (!("temperature" in body)) return hello();
      const message =
        "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.";
      return invalid(message, { param: "temperature", code: "unsupported_value" });
    },
    settings: { temperature: 0.3 },
    says: "Hello wörld €😀",
    adjusted: ["temperature"],
    requests: [2, 1],
  },
  {
    name: "null-content",
    does: "refuses an answer without a text",
    answer: (body) =>
      body.messages.some(({ content }: Body) => content === null)
        ? invalid("invalid message content type: <nil>")
        : turn(body, call),
    says: "read 1",
    adjusted: ["content"],
    requests: [3, 2],
  },
  {
    name: "reasoning-required",
    does: "requires reasoning_content in answers with calls, even an empty one",
    answer(body) {
      const i = body.messages.findIndex((each: Body) => each.tool_calls && !("reasoning_content" in each));
      const message = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${i}`;
      return i >= 0 ? invalid(message) : turn(body, call);
    },
    says: "read 1",
    adjusted: ["reasoning_content"],
    requests: [3, 2],
  },
  {
    name: "reasoning-required-given",
    does: "requires the reasoning_content that it sent",
    answer(body) {
      const i = body.messages.findIndex((each: Body) => each.tool_calls && !each.reasoning_content);
      if (i >= 0) return refuse({ error: { message: `reasoning_content missing at ${i}` } });
      return turn(body, { reasoning_content: "I should look." }, call);
    },
    says: "read 1",
    requests: [2, 2],
  },
  {
    name: "reasoning-details",
    does: "requires the reasoning_details that it sent, unchanged",
    answer(body) {
      const format = "google-gemini-v1";
      const shown = { type: "reasoning.text", text: "I should look.", format, index: 0 };
      const hidden = { type: "reasoning.encrypted", data: "c2lnbmF0dXJl", id: "abc123def", format, index: 0 };
      const answer = body.messages.find((each: Body) => each.tool_calls);
      const message = "Gemini models require OpenRouter reasoning details to be preserved in each request";
      if (answer && !Bun.deepEquals(answer.reasoning_details, [shown, hidden]))
        return refuse({ error: { message, code: 400 } });
      const first = { role: "assistant", content: "", reasoning: "I should look.", reasoning_details: [shown] };
      return turn(body, first, call, { reasoning_details: [hidden] });
    },
    says: "read 1",
    requests: [2, 2],
  },
  {
    name: "parallel-calls",
    does: "refuses parallel_tool_calls",
    answer(body) {
      if (!("parallel_tool_calls" in body)) return turn(body, call);
      const message = "parallel_tool_calls is not supported";
      return refuse({ error: { message, param: "parallel_tool_calls" } });
    },
    settings: { parallel_tool_calls: false },
    says: "read 1",
    adjusted: ["parallel_tool_calls"],
    requests: [3, 2],
  },
  {
    name: "bad-name",
    does: "refuses the name that its model made up",
    answer(body) {
      const i = body.messages.findIndex((each: Body) =>
        (each.tool_calls ?? []).some((one: Body) => !/^[a-zA-Z0-9_-]{1,64}$/.test(one.function.name)),
      );
      const param = `messages[${i}].tool_calls[0].function.name`;
      if (i >= 0)
        return invalid(`Invalid '${param}': string does not match pattern.`, { param, code: "invalid_value" });
      const made = { name: "multi_tool_use.parallel", arguments: '{"tool_uses":[]}' };
      return turn(body, { tool_calls: [{ ...look, id: "call_1", function: made }] });
    },
    says: "read 1",
    requests: [2, 2],
  },
  {
    name: "empty-result",
    does: "refuses a result without a text",
    answer(body) {
      const i = body.messages.findIndex((each: Body) => each.role === "tool" && !each.content);
      if (i >= 0) return refuse({ error: { message: `messages.${i}: tool content must not be empty` } });
      return turn(body, call);
    },
    output: "",
    says: "read 1",
    adjusted: ["content"],
    requests: [3, 2],
  },
  {
    name: "order",
    does: "expects a text, its calls and their results in this order",
    answer(body) {
      if (resultsIn(body) > 0) return stream(said(body.messages.map(({ role }: Body) => role).join(",")));
      return stream(calls({ role: "assistant", content: "Let me look. " }, call));
    },
    says: "system,user,assistant,tool",
    requests: [2, 2],
  },
  {
    name: "two-rounds",
    does: "names one field at a time",
    answer(body) {
      const field = ["stream_options", "seed"].find((name) => name in body);
      return field ? invalid(`Unknown parameter: '${field}'.`, { param: field }) : hello();
    },
    settings: { seed: 7 },
    says: "Hello wörld €😀",
    adjusted: ["seed", "stream_options"],
    requests: [3, 1],
  },
];

const request: ModelRequest = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "What is the weather?" },
  ],
  tools: [
    {
      name: "look",
      description: "Looks.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  ],
  settings: {},
};

/** Starts a server that answers like the case, and opens its model. */
async function connect(answer: (body: Body) => Response) {
  const bodies: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(incoming) {
      bodies.push(await incoming.text());
      return answer(JSON.parse(bodies.at(-1) ?? ""));
    },
  });
  const connection = { name: "stub", provider: "openai_compatible" as const, api_key: null };
  const model = await openModel({ ...connection, base_url: `http://127.0.0.1:${server.port}/v1` }, "stub");
  return { model, bodies, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** Compares the bodies with the recorded ones; `RECORD=1` records them. */
async function expectRecorded(name: string, bodies: string[]): Promise<void> {
  const file = Bun.file(`${import.meta.dir}/__fixtures__/requests/${name}.jsonl`);
  if (process.env.RECORD) await file.write(bodies.map((body) => `${body}\n`).join(""));
  expect(bodies).toEqual((await file.text()).trimEnd().split("\n"));
}

describe("a conversation ends well with a server that", () => {
  test.each(cases.map((each) => [each.does, each] as const))("%s", async (_, each) => {
    await using server = await connect(each.answer);
    const asked = { ...request, settings: each.settings ?? {} };
    const options = each.output === undefined ? {} : { output: each.output };
    const first = await converse(server.model, asked, options);
    expect([first.error, first.text]).toEqual([null, each.says]);
    expect(first.adjustments.at(-1)?.map(({ field }) => field)).toEqual(each.adjusted ?? []);
    expect(server.bodies).toHaveLength(each.requests[0]);
    await expectRecorded(each.name, server.bodies);
    const second = await converse(server.model, asked, options);
    expect([second.error, second.text]).toEqual([null, each.says]);
    expect(server.bodies.length - each.requests[0]).toBe(each.requests[1]);
  });
});

test("a request is sent at most three times, and what was learnt serves the next one", async () => {
  const fields = ["stream_options", "seed", "temperature", "top_p"];
  await using server = await connect((body) => {
    const field = fields.find((name) => name in body);
    return field ? invalid(`Unknown parameter: '${field}'.`, { param: field }) : hello();
  });
  const asked = { ...request, settings: { seed: 7, temperature: 0.3, top_p: 0.5 } };
  const first = await converse(server.model, asked);
  expect(first.error).toMatchObject({ code: "model_error", retryable: false });
  expect(first.error?.message).toContain("Unknown parameter: 'temperature'.");
  expect(server.bodies).toHaveLength(3);
  const second = await converse(server.model, asked);
  expect([second.error, second.text]).toEqual([null, "Hello wörld €😀"]);
  expect(second.adjustments[0]?.map(({ field }) => field)).toEqual(["temperature", "top_p", "seed", "stream_options"]);
});

test("the limit of an answer is never dropped: a server that takes neither name fails the call", async () => {
  await using server = await connect((body) => {
    const field = ["max_tokens", "max_completion_tokens"].find((name) => name in body);
    return field ? invalid(`Unsupported parameter: '${field}' is not supported.`, { param: field }) : hello();
  });
  const { error } = await converse(server.model, { ...request, settings: { max_output_tokens: 50 } });
  expect(error).toMatchObject({ code: "model_error", retryable: false });
  expect(server.bodies.map((body) => JSON.parse(body))).toMatchObject([
    { max_tokens: 50 },
    { max_completion_tokens: 50 },
  ]);
});

test.each([
  ["temperature", "Input should be less than or equal to 1.5", { temperature: 1.9 }],
  ["max_tokens", "max_tokens is too large: 9000. This model supports at most 4096 completion tokens.", {}],
  ["top_p", "top_p must be between 0 and 1", { top_p: 1 }],
])("a %s that is out of range is an error of the agent, not of the field", async (param, message, settings) => {
  await using server = await connect(() => invalid(message, { param }));
  const { error } = await converse(server.model, { ...request, settings: { max_output_tokens: 9000, ...settings } });
  expect(error?.message).toContain(message);
  expect(server.bodies).toHaveLength(1);
});

test("a user's words that a server repeats in its refusal teach nothing", async () => {
  const input = "stream_options and temperature are not supported";
  const detail = [
    { type: "string_type", loc: ["body", "messages", 1, "name"], msg: "Input should be a string", input },
  ];
  await using server = await connect(() => refuse({ detail }, 422));
  await converse(server.model, { ...request, settings: { temperature: 0.3 } });
  expect(server.bodies).toHaveLength(1);
});

test("calls that are refused at the same time each learn and go on", async () => {
  await using server = await connect((body) =>
    "stream_options" in body ? invalid("Unrecognized request argument supplied: stream_options") : hello(),
  );
  const all = await Promise.all(Array.from({ length: 5 }, () => converse(server.model, request)));
  expect(all.map(({ error, text }) => [error, text])).toEqual(Array(5).fill([null, "Hello wörld €😀"]));
});

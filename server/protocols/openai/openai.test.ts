import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { newId } from "../../domain/ids.ts";
import type { ScriptEntry } from "../../domain/model-call.ts";
import { createEgress } from "../../lib/egress.ts";
import { pollFirst } from "../../testing/poll-first.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const at = "/openai/v1/chat/completions";
const hello = [{ role: "user", content: "Hello!" }];
const look = {
  type: "function",
  function: { name: "look", parameters: { type: "object", properties: { at: { type: "string" } } } },
};
const asking: ScriptEntry[] = [
  { text: "I look.", tool_calls: [{ name: "look", arguments: { at: "Oslo" } }] },
  { text: "Rain." },
];

async function newAgent(script: ScriptEntry[] | null, more: object = {}): Promise<string> {
  const model = script ? { model: "test/script", model_settings: { script } } : { model: "test/echo" };
  const { body } = await client.post("/v1/agents", { name: "a", instructions: "Be kind.", ...model, ...more });
  expect(body.error ?? null).toBeNull();
  return body.id;
}

/** Returns the chunks of a stream, and the text after the last one. */
function chunksOf(text: string) {
  const data = [...text.matchAll(/^data: (.+)$/gm)].map(([, json]) => json!);
  const chunks = data.filter((one) => one !== "[DONE]").map((one) => JSON.parse(one));
  return { chunks, isDone: data.at(-1) === "[DONE]", deltas: chunks.flatMap(({ choices }) => choices ?? []) };
}
// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
const runOf = async (answer: { headers: Headers }): Promise<any> =>
  (await client.get(`/v1/runs/${answer.headers.get("x-runnel-run-id")}`)).body;

test.each(["run", "read"])(
  "a client token that may only %s sees its own agent as a model, and no other",
  async (scope) => {
    const [id, other] = [await newAgent(null), await newAgent(null)];
    const { token } = (
      await client.post("/v1/client_tokens", { agent_id: id, scopes: [scope], expires_in_seconds: 60 })
    ).body;
    const ask = (path: string) => server.send("GET", path, undefined, { authorization: `Bearer ${token}` });
    const { status, body } = await ask("/openai/v1/models");
    expect([status, body.data.map((model: { id: string }) => model.id)]).toEqual([200, [id, "runnel/embedder"]]);
    expect((await ask(`/openai/v1/models/${id}`)).status).toBe(200);
    expect((await ask(`/openai/v1/models/${other}`)).status).toBe(404);
  },
);

test("schemas of zod 4 are taken as tools and as the form of an answer, whatever patterns they have", async () => {
  const schema = z.toJSONSchema(z.object({ mail: z.email(), at: z.iso.datetime(), own: z.string().regex(/^(a+)+$/) }));
  const call = { name: "send", arguments: { mail: "a@example.com", at: "2026-01-01T00:00:00Z", own: "b" } };
  const model = await newAgent([{ tool_calls: [call] }, { text: JSON.stringify(call.arguments) }]);
  const tools = [{ type: "function", function: { name: "send", parameters: schema } }];
  const asked = await client.post(at, { model, messages: hello, tools });
  expect([asked.status, asked.body.choices?.[0].message.tool_calls?.[0].function.name]).toEqual([200, "send"]);
  const json = await newAgent([{ text: JSON.stringify(call.arguments) }]);
  const response_format = { type: "json_schema", json_schema: { name: "x", schema, strict: true } };
  const formed = await client.post(at, { model: json, messages: hello, response_format });
  expect([formed.status, formed.body.choices?.[0].message.content]).toEqual([200, JSON.stringify(call.arguments)]);
  const responses = await client.post("/openai/v1/responses", {
    model,
    input: "Hello!",
    tools: [{ type: "function", name: "send", parameters: schema, strict: true }],
  });
  expect(responses.status).toBe(200);
});

test("an agent is a model", async () => {
  const id = await newAgent(null);
  const { body } = await client.get("/openai/v1/models");
  const model = { id, object: "model", created: expect.any(Number), owned_by: "runnel" };
  expect(body.object).toBe("list");
  expect(body.data).toContainEqual(model);
  for (const none of ["x", "%ff", "%00"]) expect((await client.get(`/openai/v1/models/${none}`)).status).toBe(404);
  expect((await client.get(`/openai/v1/models/${id}`)).body).toMatchObject(model);
  const bound = await server.client({ agent_ids: [await newAgent(null)] });
  const embedder = { id: "runnel/embedder", object: "model", created: 0, owned_by: "runnel" };
  expect((await bound.get("/openai/v1/models")).body.data).toEqual([expect.anything(), embedder]);
  for (const by of [bound, await server.client({ project: "another" })]) {
    const none = await by.get(`/openai/v1/models/${id}`);
    expect([none.status, none.body.error.code, none.body.error.param]).toEqual([404, "model_not_found", "model"]);
    const answer = await by.post(at, { model: id, messages: hello });
    expect([answer.status, answer.body.error]).toEqual([404, none.body.error]);
  }
});

describe("a model of a connection", () => {
  const gpt = "openai/gpt-5-mini";
  const ids = async (by: Client): Promise<string[]> =>
    (await by.get("/openai/v1/models")).body.data.map(({ id }: { id: string }) => id);
  const answers = async (by: Client, model: string) => {
    const { status, body } = await by.post(at, { model, messages: hello });
    return [status, body.choices?.[0].message.content ?? body.error.code];
  };
  let owner: Client;
  let runner: Client;
  beforeAll(async () => {
    await server.connections.put({ name: "openai", provider: "openai", base_url: null, api_key: "none" }, testActor);
    owner = await server.client({ project: "models" });
    runner = await server.client({ project: "models", scopes: ["run"] });
  });
  const agentsOf = async (name: string) =>
    (await owner.get("/v1/agents")).body.data.filter((agent: { name: string }) => agent.name === name);

  test("is listed for keys that could make an agent that has it, and for no others", async () => {
    const model = { id: gpt, object: "model", created: 0, owned_by: "openai" };
    expect((await owner.get("/openai/v1/models")).body.data).toContainEqual(model);
    for (const path of [gpt, encodeURIComponent(gpt)])
      expect((await owner.get(`/openai/v1/models/${path}`)).body).toMatchObject(model);
    // There are no connections, and test models are not listed.
    const { data } = (await owner.get("/openai/v1/models")).body as { data: (typeof model)[] };
    expect(new Set(data.flatMap(({ created, owned_by }) => (created === 0 ? [owned_by] : [])))).toEqual(
      new Set(["openai", "runnel"]),
    );
    const [reader, bound] = await Promise.all([
      server.client({ project: "models", scopes: ["read"] }),
      server.client({ project: "models", agent_ids: [newId("agent")] }),
    ]);
    for (const by of [runner, reader, bound]) {
      expect(await ids(by)).not.toContain(gpt);
      expect((await by.get(`/openai/v1/models/${gpt}`)).status).toBe(404);
    }
    for (const by of [runner, bound]) expect(await answers(by, gpt)).toEqual([404, "model_not_found"]);
    expect(await agentsOf(gpt)).toEqual([]);
  });

  test("gets an agent when it is first requested, which all keys may use from then on", async () => {
    const model = "test/echo";
    expect(await answers(runner, model)).toEqual([404, "model_not_found"]);
    const [first] = await Promise.all([
      answers(owner, model),
      answers(owner, model),
      owner.post("/openai/v1/responses", { model, input: "Hello!" }),
    ]);
    expect(first).toEqual([200, "Hello!"]);
    const [agent, ...more] = await agentsOf(model);
    expect(more).toEqual([]);
    expect(agent).toMatchObject({ model, metadata: { "openai.model": model } });
    expect(await answers(runner, model)).toEqual([200, "Hello!"]);
    expect((await ids(runner)).filter((id) => [model, agent.id].includes(id))).toEqual([agent.id, model]);
    const { data } = (await owner.get(`/v1/runs?agent_id=${agent.id}`)).body;
    expect(data).toHaveLength(4);
    // It is an ordinary agent, whose owner can change it.
    const guardrails = [{ type: "blocked_terms", on: ["input"], action: "block", config: { terms: ["Hello"] } }];
    expect((await owner.patch(`/v1/agents/${agent.id}`, { guardrails })).status).toBe(200);
    expect(await answers(runner, model)).toEqual([400, "guardrail_blocked"]);
    await owner.delete(`/v1/agents/${agent.id}`);
    expect(await answers(runner, model)).toEqual([404, "model_not_found"]);
    const bound = await server.client({ project: "models", agent_ids: [agent.id] });
    expect(await answers(bound, model)).toEqual([404, "model_not_found"]);
  });

  test("makes an agent and a run by one Idempotency-Key, and the same again is answered again", async () => {
    const headers = { authorization: `Bearer ${owner.key.secret}`, "idempotency-key": "one" };
    const ask = () => server.send("POST", at, { model: "test/refusal", messages: hello }, headers);
    const [first, again] = [await ask(), await ask()];
    expect([first.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(again.body.id).toBe(first.body.id);
  });

  test("without a connection does not exist, and creates no agent", async () => {
    for (const model of ["anthropic/claude-haiku-4-5", "openai_compatible/none/x", "nobody/x", "test/none", "x/", "/"])
      expect([model, ...(await answers(owner, model))]).toEqual([model, 404, "model_not_found"]);
    expect(await agentsOf("test/none")).toEqual([]);
  });
});

test("an agent has the name that its metadata gives it for OpenAI's clients, in its own project", async () => {
  const id = await newAgent(null, { metadata: { "openai.model": "gpt-4o" } });
  await newAgent([{ text: "The younger one." }], { metadata: { "openai.model": "gpt-4o" } });
  const answer = await client.post(at, { model: "gpt-4o", messages: hello });
  expect([answer.body.model, answer.body.choices[0].message.content]).toEqual(["gpt-4o", "Hello!"]);
  expect((await runOf(answer)).agent_id).toBe(id);
  expect((await client.get("/openai/v1/models/gpt-4o")).body).toMatchObject({ id: "gpt-4o", owned_by: "runnel" });
  const [bound, stranger] = [await server.client({ agent_ids: [id] }), await server.client({ project: "another" })];
  expect((await bound.post(at, { model: "gpt-4o", messages: hello })).status).toBe(200);
  expect((await stranger.post(at, { model: "gpt-4o", messages: hello })).body.error.code).toBe("model_not_found");
});

test("a completion is an ordinary run, with its usage and settings", async () => {
  const model = await newAgent(null);
  const answer = await client.post(at, {
    model,
    temperature: 0,
    max_completion_tokens: 50,
    stop: "END",
    seed: 7,
    user: "ada",
    metadata: { a: "b" },
    messages: [{ role: "system", content: "Be short." }, ...hello],
    store: true,
    logprobs: null,
  });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    object: "chat.completion",
    model,
    id: expect.stringMatching(/^chatcmpl-/),
    choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
  });
  const run = await runOf(answer);
  expect(run).toMatchObject({ status: "completed", agent_id: model, user_id: "ada", metadata: { a: "b" } });
  const { steps } = (await client.get(`/v1/traces/${run.id}?include=prompt`)).body;
  const { prompt } = steps.find(({ type }: { type: string }) => type === "model_call");
  expect(prompt.settings).toEqual({ temperature: 0, max_output_tokens: 50, seed: 7, stop: ["END"] });
  expect(prompt.messages[0].content).toBe("Be kind.\n\nBe short.");
});

test("a stream has the role first, then the text, the finish reason, the usage and the end marker", async () => {
  const model = await newAgent([{ reasoning: "Hm.", text: "One two three." }]);
  const body = { model, messages: hello, stream: true, stream_options: { include_usage: true } };
  const { chunks, deltas, isDone } = chunksOf((await client.post(at, body)).body);
  expect(deltas[0].delta).toEqual({ role: "assistant", content: "" });
  const said = (name: string) => deltas.map(({ delta }) => delta[name] ?? "").join("");
  expect([said("content"), said("reasoning_content")]).toEqual(["One two three.", "Hm."]);
  expect(deltas.map(({ finish_reason }) => finish_reason).filter(Boolean)).toEqual(["stop"]);
  expect([chunks.at(-1).choices, chunks.at(-1).usage.total_tokens, isDone]).toEqual([[], 7, true]);
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
});

test.each([false, true])(
  "a client's tool is called and its result goes on with the run (stream: %p)",
  async (stream) => {
    const model = await newAgent(asking);
    const ask = async (messages: object[]) => {
      const answer = await client.post(at, { model, messages, tools: [look], stream });
      expect(answer.status).toBe(200);
      if (!stream) return { answer, ...answer.body.choices[0] };
      const { deltas } = chunksOf(answer.body);
      const calls = deltas.flatMap(({ delta }) => delta.tool_calls ?? []);
      const content = deltas.map(({ delta }) => delta.content ?? "").join("");
      const message = { content, ...(calls.length > 0 && { tool_calls: calls.map(({ index: _, ...call }) => call) }) };
      return { answer, message, finish_reason: deltas.at(-1).finish_reason };
    };
    const first = await ask(hello);
    expect(first.finish_reason).toBe("tool_calls");
    expect(first.message.content).toBe("I look.");
    const [call] = first.message.tool_calls;
    expect(call).toMatchObject({ type: "function", function: { name: "look", arguments: '{"at":"Oslo"}' } });
    const messages = [
      ...hello,
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: "Wet." },
    ];
    const second = await ask(messages);
    expect([second.message.content, second.finish_reason]).toEqual(["Rain.", "stop"]);
    // A client that lost the response retries and gets the same one: nothing is done twice.
    const again = await ask(messages);
    expect([again.message.content, again.finish_reason]).toEqual(["Rain.", "stop"]);
    const run = await runOf(again.answer);
    expect([run.id, run.usage.model_calls]).toEqual([(await runOf(first.answer)).id, 2]);
    // The conversation continues in a run of its own, which reads all of it.
    await client.patch(`/v1/agents/${model}`, { model: "test/echo" });
    const third = await ask([
      ...messages,
      { role: "assistant", content: "Rain." },
      { role: "user", content: "Thanks." },
    ]);
    expect(third.message.content).toBe("Thanks.");
    expect((await runOf(third.answer)).input).toHaveLength(5);
  },
);

/** Returns the messages with results of calls, after the messages with the calls. */
const resultsOf = (calls: { id: string }[], given = calls) => [
  ...hello,
  { role: "assistant", content: null, tool_calls: calls },
  ...given.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "Wet." })),
];

test("a subagent's question reaches the client once, and its answer continues the whole run", async () => {
  const sub = await newAgent([{ tool_calls: [{ name: "near", arguments: {} }] }, { text: "Wet." }], {
    tools: [(await client.post("/v1/tools", { name: "near", type: "client" })).body.id],
  });
  const tool = (await client.post("/v1/tools", { name: "ask_below", type: "agent", agent_id: sub })).body;
  const model = await newAgent([{ tool_calls: [{ name: "ask_below", arguments: { input: "?" } }] }, ...asking], {
    tools: [tool.id],
  });
  const ask = async (messages: object[]) =>
    (await client.post(at, { model, messages, tools: [look] })).body.choices[0].message;
  const [first] = (await ask(hello)).tool_calls;
  expect(first.function.name).toBe("near");
  for (const _ of [1, 2]) {
    const [second] = (await ask(resultsOf([first]))).tool_calls;
    expect(second.function.name).toBe("look");
    for (const _ of [1, 2]) expect((await ask(resultsOf([second]))).content).toBe("Rain.");
  }
});

test("a result for a run whose trace was deleted finds no call", async () => {
  const model = await newAgent(asking);
  const { body } = await client.post(at, { model, messages: hello, tools: [look] });
  const [call] = body.choices[0].message.tool_calls;
  const { id } = await runOf(await client.post(at, { model, messages: resultsOf([call]) }));
  expect((await client.delete(`/v1/traces/${id}`)).status).toBe(200);
  const input = [{ type: "function_call_output", call_id: call.id, output: "Wet." }];
  for (const { status, body } of [
    await client.post(at, { model, messages: resultsOf([call]) }),
    await client.post("/openai/v1/responses", { model, input }),
  ])
    expect([status, body.error.code]).toEqual([400, "tool_call_not_found"]);
});

test("a result of one of two calls leads to the question for the other, and both together to the end", async () => {
  const two = ["Oslo", "Rome"].map((place) => ({ name: "look", arguments: { at: place } }));
  const model = await newAgent([{ tool_calls: two }, { text: "Rain." }]);
  const ask = async (messages: object[]) =>
    (await client.post(at, { model, messages, tools: [look] })).body.choices[0].message;
  const { tool_calls: calls } = await ask(hello);
  for (const _ of [1, 2]) expect((await ask(resultsOf(calls, [calls[0]]))).tool_calls).toEqual([calls[1]]);
  for (const _ of [1, 2]) expect((await ask(resultsOf(calls))).content).toBe("Rain.");
});

test("a result that is given to another agent hands the conversation over to it", async () => {
  const first = await newAgent(asking);
  const { body } = await client.post(at, { model: first, messages: hello, tools: [look] });
  const messages = resultsOf(body.choices[0].message.tool_calls);
  const answer = await client.post(at, { model: await newAgent(null), messages });
  expect(answer.body.choices[0].message.content).toBe("Hello!");
  expect((await runOf(answer)).input.map(({ role }: { role: string }) => role)).toEqual(["assistant", "tool", "user"]);
  const { data } = (await client.get(`/v1/runs?agent_id=${first}`)).body;
  expect(data.map(({ status }: { status: string }) => status)).toEqual(["cancelled"]);
});

test("a request that is sent again with its Idempotency-Key is answered again, and another one is refused", async () => {
  const model = await newAgent(null);
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "one" };
  const ask = (content: string) => server.send("POST", at, { model, messages: [{ role: "user", content }] }, headers);
  const answers = [await ask("Once."), await ask("Once.")];
  expect(answers.map(({ body }) => body.choices[0].message.content)).toEqual(["Once.", "Once."]);
  expect(new Set(answers.map((answer) => answer.headers.get("x-runnel-run-id"))).size).toBe(1);
  expect(answers.map((answer) => answer.headers.get("idempotent-replayed"))).toEqual([null, "true"]);
  const other = await ask("Twice.");
  expect([other.status, other.body.error.code]).toEqual([409, "idempotency_key_reused"]);
});

test("calls of an agent's own tools are hidden from the client", async () => {
  const sub = await newAgent([{ text: "Wet." }]);
  const tool = (await client.post("/v1/tools", { name: "ask_other", type: "agent", agent_id: sub })).body;
  const script = [
    { text: "I ask.", tool_calls: [{ name: "ask_other", arguments: { input: "?" } }] },
    { text: "Rain." },
  ];
  const model = await newAgent(script, { tools: [tool.id] });
  const { body } = await client.post(at, { model, messages: hello });
  expect(body.choices[0]).toMatchObject({ message: { content: "I ask.\n\nRain." }, finish_reason: "stop" });
  expect(body.choices[0].message.tool_calls).toBeUndefined();
});

test("an answer has the requested format, and is marked if truncated", async () => {
  const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  const model = await newAgent([{ text: '{"a": 1}' }]);
  const response_format = { type: "json_schema", json_schema: { name: "x", schema, strict: true } };
  const answer = await client.post(at, { model, messages: hello, response_format });
  expect(JSON.parse(answer.body.choices[0].message.content)).toEqual({ a: 1 });
  expect((await runOf(answer)).output_json).toEqual({ a: 1 });
  const cut = await client.post(at, {
    model: await newAgent(null),
    messages: [{ role: "user", content: "a b c" }],
    max_tokens: 2,
  });
  expect(cut.body.choices[0]).toMatchObject({ message: { content: "a b " }, finish_reason: "length" });
});

test("an answer that was retried because it did not fit is the whole content", async () => {
  const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  const response_format = { type: "json_schema", json_schema: { name: "x", schema } };
  const sub = await newAgent(null);
  const { id } = (await client.post("/v1/tools", { name: "ask_sub", type: "agent", agent_id: sub })).body;
  const said = async (...script: ScriptEntry[]) => {
    const model = await newAgent(script, { tools: [id] });
    const { body } = await client.post(at, { model, messages: hello, response_format });
    return body.choices[0].message.content;
  };
  const good = { text: '{"a": 1}' };
  expect(await said({ text: '{"bad": 1}' }, good)).toBe(good.text);
  const before = { text: "I ask.", tool_calls: [{ name: "ask_sub", arguments: { input: "?" } }] };
  expect(await said(before, { reasoning: "Hm." }, good)).toBe(good.text);
});

test("an answer in a format contains no text of earlier turns, whole or in a stream", async () => {
  const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  const sub = await newAgent(null);
  const { id } = (await client.post("/v1/tools", { name: "ask_first", type: "agent", agent_id: sub })).body;
  const before = { text: "I ask.", tool_calls: [{ name: "ask_first", arguments: { input: "?" } }] };
  const [good, prose] = [{ text: ' {"a": 1}' }, { text: "It is 1." }];
  const streamed = async (more: object, ...script: ScriptEntry[]) => {
    const model = await newAgent(script, { tools: [id] });
    const { deltas } = chunksOf((await client.post(at, { model, messages: hello, stream: true, ...more })).body);
    return deltas.map(({ delta }) => delta.content ?? "").join("");
  };
  const response_format = { type: "json_schema", json_schema: { name: "x", schema } };
  expect(await streamed({ response_format }, before, good)).toBe(good.text);
  expect(await streamed({ response_format }, before, prose, good)).toBe(good.text);
  expect(await streamed({}, before, prose)).toBe("I ask.\n\nIt is 1.");
  // Also with an agent that has a schema itself, and with a call of the client's tool.
  const model = await newAgent([before, good], { tools: [id], output_schema: schema });
  const { body } = await client.post(at, { model, messages: hello });
  expect(body.choices[0].message.content).toBe(good.text);
  const form = { response_format, tools: [look] };
  expect(await streamed(form, before, { text: "I look.", tool_calls: asking[0]!.tool_calls! })).toBe("I look.");
});

test("a run that fails is an error with its code, and none that is tried again", async () => {
  const model = await newAgent([{ error: "Out of order." }]);
  const answer = await client.post(at, { model, messages: hello });
  expect([answer.status, answer.body.error.code, answer.headers.get("x-should-retry")]).toEqual([
    502,
    "model_error",
    "false",
  ]);
  const { chunks, isDone } = chunksOf((await client.post(at, { model, messages: hello, stream: true })).body);
  expect([chunks.at(-1).error.code, isDone]).toEqual(["model_error", false]);
});

const onePixel = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);
const image = (url: string) => [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];

test("an image at an address is fetched once, and refused where it cannot be had or is none", async () => {
  const asked: string[] = [];
  using site = Bun.serve({
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      asked.push(pathname);
      if (pathname === "/long") return new Response(new Uint8Array(6 * 1024 * 1024));
      return pathname === "/a.png" ? new Response(onePixel) : new Response("x", { status: 404 });
    },
  });
  await using other = testApp({ publicEgress: createEgress({ allow: [], loopback: true }) });
  const owner = await other.client();
  const model = (await owner.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  const ask = (path: string, by = owner) => {
    const [shown] = image(`http://127.0.0.1:${site.port}${path}`);
    return by.post(at, { model, messages: [shown, { role: "assistant", content: "What?" }, shown] });
  };
  const answer = await ask("/a.png");
  expect([answer.status, asked]).toEqual([200, ["/a.png"]]);
  const { input } = (await owner.get(`/v1/runs/${answer.headers.get("x-runnel-run-id")}`)).body;
  expect(input[2].content).toEqual([{ type: "image", file_id: expect.any(String) }]);
  for (const path of ["/none", "/long"]) {
    const { status, body } = await ask(path);
    const { code, param } = body.error;
    expect([status, code, param]).toEqual([400, "url_not_fetched", "messages[0].content[0].image_url.url"]);
  }
  // A key that may not start runs causes no fetch.
  const { status } = await ask("/b.png", await other.client({ scopes: ["read"] }));
  expect([status, asked.includes("/b.png")]).toEqual([403, false]);
});

// A short request that names an image many times would be expanded to as many copies.
test("images at addresses are no more, and no longer, than a request could have brought along", async () => {
  let asked = 0;
  using site = Bun.serve({
    port: 0,
    fetch() {
      asked++;
      return new Response(Buffer.concat([onePixel, new Uint8Array(4_900_000)]));
    },
  });
  await using other = testApp({ publicEgress: createEgress({ allow: [], loopback: true }) });
  const owner = await other.client();
  const model = (await owner.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  const part = { type: "image_url", image_url: { url: `http://127.0.0.1:${site.port}/` } };
  const ask = (...contents: object[][]) =>
    owner.post(at, { model, messages: contents.map((content) => ({ role: "user", content })) });
  const many = (length: number) => Array.from({ length }, () => part);
  for (const refused of [await ask(many(21)), await ask(many(10), many(11)), await ask(many(10_000))])
    expect([refused.status, refused.body.error.code, asked]).toEqual([400, "validation_failed", 0]);
  expect([(await ask(many(1), many(1))).status, asked]).toEqual([200, 1]);
  const different = Array.from({ length: 6 }, (_, index) => ({
    ...part,
    image_url: { url: `${part.image_url.url}?${index}` },
  }));
  const { status, body } = await ask(different);
  expect([status, body.error.code, body.error.message]).toEqual([
    413,
    "payload_too_large",
    expect.stringContaining("images"),
  ]);
});

test("no image is fetched for a key that has reached its limit of runs per minute", async () => {
  let fetched = 0;
  using site = Bun.serve({
    port: 0,
    fetch() {
      fetched++;
      return new Response(onePixel);
    },
  });
  await using other = testApp({ publicEgress: createEgress({ allow: [], loopback: true }) });
  const owner = await other.client();
  const model = (await owner.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  await other.projects.update(owner.scope.project_id, {
    limits: { run_creations_per_minute: 2, writes_per_minute: 4 },
  });
  const url = `http://127.0.0.1:${site.port}/a.png`;
  const item = { role: "user", content: [{ type: "input_image", image_url: url }] };
  const asked = [
    await owner.post(at, { model, messages: image(url) }),
    await owner.post("/openai/v1/responses", { model, input: [item] }),
    await owner.post(at, { model, messages: image(url) }),
    await owner.post("/openai/v1/responses", { model, input: [item] }),
  ];
  expect([asked.map(({ status }) => status), fetched]).toEqual([[200, 200, 429, 429], 2]);
  expect(asked[2]!.body.error.code).toBe("rate_limited");
  const { id } = (await owner.post("/openai/v1/conversations", {})).body;
  const add = async () => (await owner.post(`/openai/v1/conversations/${id}/items`, { items: [item] })).status;
  expect([await add(), await add(), await add(), fetched]).toEqual([200, 200, 429, 4]);
});

test("a key that may start runs cannot make the server fetch images from its own networks", async () => {
  const asked: string[] = [];
  using site = Bun.serve({
    port: 0,
    fetch({ url }) {
      asked.push(url);
      return new Response(onePixel);
    },
  });
  // The operator allows tools to reach this machine, and test keys may by default.
  await using other = testApp({ egress: ["127.0.0.1"] });
  const owner = await other.client();
  const agent = { name: "a", instructions: "", model: "test/echo" };
  const model = (await owner.post("/v1/agents", agent)).body.id;
  const token = await owner.post("/v1/client_tokens", {
    agent_id: model,
    user_id: "ada",
    scopes: ["run", "read"],
    expires_in_seconds: 600,
  });
  const ask = async (url: string, secret = owner.key.secret) => {
    const authorization = `Bearer ${secret}`;
    const { status, body } = await other.send("POST", at, { model, messages: image(url) }, { authorization });
    return [status, body.error.param, body.error.message, body.error.code];
  };
  const param = "messages[0].content[0].image_url.url";
  const here = await ask(`http://127.0.0.1:${site.port}/`);
  expect(here).toEqual([400, param, expect.any(String), "url_not_fetched"]);
  // A missing address gets the same error as a forbidden one.
  expect(await ask("https://localhost:1/")).toEqual(here);
  expect(await ask("https://none.invalid/")).toEqual(here);
  expect(await ask("https://example.com/a.png", token.body.token)).toEqual([
    400,
    param,
    expect.stringContaining("data:"),
    "validation_failed",
  ]);
  expect(asked).toEqual([]);
});

test.each<[string, object, number, string, string | null]>([
  ["no messages", { messages: [] }, 400, "validation_failed", "messages"],
  ["an unknown role", { messages: [{ role: "function", content: "x" }] }, 400, "validation_failed", "messages[0].role"],
  ["two choices", { messages: hello, n: 2 }, 400, "validation_failed", "n"],
  [
    "an unknown call",
    { messages: [...hello, { role: "tool", tool_call_id: "call_x", content: "1" }] },
    400,
    "tool_call_not_found",
    "messages[1].tool_call_id",
  ],
  [
    "a call without result",
    {
      messages: [
        { role: "system", content: "x" },
        { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
        ...hello,
      ],
    },
    400,
    "validation_failed",
    "messages[1].tool_calls[0]",
  ],
  [
    "a tool of another kind",
    { messages: hello, tools: [{ type: "web_search" }] },
    400,
    "validation_failed",
    "tools[0].type",
  ],
  ["two tools of one name", { messages: hello, tools: [look, look] }, 400, "validation_failed", "tools[1].name"],
  [
    "a choice of no tool",
    { messages: hello, tool_choice: { type: "function", function: { name: "x" } } },
    400,
    "validation_failed",
    "overrides.model_settings.tool_choice.name",
  ],
  [
    "an image at a private address",
    { messages: image("https://10.0.0.1/a.png") },
    400,
    "url_not_fetched",
    "messages[0].content[0].image_url.url",
  ],
  [
    "an image at no address",
    { messages: image("ftp://example.com/a.png") },
    400,
    "validation_failed",
    "messages[0].content[0].image_url.url",
  ],
  [
    "an image that is none",
    { messages: image(`data:image/png;base64,${btoa("x")}`) },
    400,
    "unsupported_input",
    "messages[0].content[0].image_url.url",
  ],
  ["a temperature too high", { messages: hello, temperature: 3 }, 400, "validation_failed", "temperature"],
])("%s is rejected in OpenAI's format, with the parameter", async (_, body, status, code, param) => {
  const answer = await client.post(at, { model: await newAgent(null), ...body });
  expect([answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual([status, code, param]);
  expect(Object.keys(answer.body.error).sort()).toEqual(["code", "message", "param", "type"]);
});

const routes = () => server.app.routes.filter(({ path }) => path.startsWith("/openai/"));

test("no address lets a stranger in, or a key whose scopes are not enough", async () => {
  expect(routes().length).toBeGreaterThan(2);
  const reader = await server.client({ scopes: ["read"] });
  for (const { method, path } of routes()) {
    await using stranger = testApp();
    const { status, body } = await stranger.send(method, path.replace(":id", "x"), method === "GET" ? undefined : {});
    expect([path, status, body.error.code]).toEqual([path, 401, "missing_api_key"]);
  }
  const answer = await reader.post(at, { model: await newAgent(null), messages: hello });
  expect([answer.status, answer.body.error.code]).toEqual([403, "insufficient_scope"]);
});

test("a result given with another project's key, or one of other agents, finds no call", async () => {
  const model = await newAgent(asking);
  const { body } = await client.post(at, { model, messages: hello, tools: [look] });
  const [{ id }] = body.choices[0].message.tool_calls;
  const messages = [...hello, { role: "assistant", tool_calls: [] }, { role: "tool", tool_call_id: id, content: "x" }];
  const others = [
    await server.client({ project: "third" }),
    await server.client({ agent_ids: [await newAgent(null)] }),
  ];
  for (const other of others) {
    const own = (await other.get("/openai/v1/models")).body.data.find(({ id }: { id: string }) =>
      id.startsWith("agt_"),
    );
    const answer = await other.post(at, { model: own?.id ?? model, messages });
    expect([answer.status, answer.body.error.param]).toEqual(own ? [400, "messages[2].tool_call_id"] : [404, "model"]);
  }
});

/** A run of a minute, with a waiting client. */
async function waiting(other: TestApp, path: string, body: object) {
  const owner = await other.client();
  const script = [{ delta_ms: 60_000, text: "One two three." }];
  const agent = { name: "a", instructions: "", model: "test/script", model_settings: { script } };
  const model = (await owner.post("/v1/agents", agent)).body.id;
  const key = await other.client();
  const answer = key.post(path, { model, ...body });
  const { id } = await pollFirst(owner, "/v1/runs");
  while (other.watches.readers(id) === 0) await new Promise((resolve) => setImmediate(resolve));
  return { owner, key, answer, id };
}

const doors: [string, object][] = [
  [at, { messages: hello }],
  ["/openai/v1/responses", { input: "Hello!" }],
];

test("a stopping server ends a stream with an error, so that clients do not take a part for the whole", async () => {
  await using other = testApp();
  const { answer } = await waiting(other, at, { messages: hello, stream: true });
  await other.stop();
  const { status, body } = await answer;
  expect([status, chunksOf(body).chunks.at(-1).error.code]).toEqual([200, "shutting_down"]);
});

// Clients retry 503 by themselves, which would start a second run beside the first.
test.each(doors)(
  "a client that waits for a response when the server stops is told not to retry: %s",
  async (path, body) => {
    await using other = testApp();
    const { answer, id } = await waiting(other, path, body);
    await other.stop();
    const { status, body: told, headers } = await answer;
    expect([status, told.error.code, headers.get("x-should-retry"), headers.get("x-runnel-run-id")]).toEqual([
      503,
      "shutting_down",
      "false",
      id,
    ]);
  },
);

test.each(doors)("a client that waits for a response gets an error when its key is revoked: %s", async (path, body) => {
  await using other = testApp();
  const { owner, key, answer } = await waiting(other, path, body);
  await owner.delete(`/v1/api_keys/${key.key.id}`);
  const { status, body: told, headers } = await answer;
  expect([status, told.error.code, headers.get("www-authenticate")]).toEqual([401, "key_revoked", "Bearer"]);
});

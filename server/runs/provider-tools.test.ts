import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ConnectionProvider } from "../domain/providers.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { startProviders } from "../testing/provider-server.ts";
import { wires } from "../testing/provider-wire.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

// Tools that a model's provider runs itself, through whole runs, with servers that play its stream.

const typed = (data: { type: string; [more: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const pages = [
  {
    type: "web_search_result",
    url: "https://example.com/rain",
    title: "Rain in Oslo",
    encrypted_content: "EqgfCioIARgBIiQ3YTAwMjY1Mi1mZjM5",
    page_age: "April 30, 2025",
  },
];
const search = { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: { query: "weather Oslo" } };
const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_01", content: pages };

/** Claude's answer with a search, and a call of the agent's own tool after it. */
function* claudeSearches(withCall: boolean): Generator<string> {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  yield typed({ type: "message_start", message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } });
  const block = (index: number, content_block: object, ...deltas: object[]) =>
    typed({ type: "content_block_start", index, content_block }) +
    deltas.map((delta) => typed({ type: "content_block_delta", index, delta })).join("") +
    typed({ type: "content_block_stop", index });
  yield block(0, { ...search, input: {} }, { type: "input_json_delta", partial_json: '{"query":"weather Oslo"}' });
  yield block(1, found);
  const citation = {
    type: "web_search_result_location",
    url: "https://example.com/rain",
    title: "Rain in Oslo",
    encrypted_index: "Eo8BCioIAhgBIiQyYjQ0OWJmZi1lNm",
    cited_text: "It rains.",
  };
  yield block(
    2,
    { type: "text", text: "", citations: [] },
    { type: "text_delta", text: "It rains." },
    { type: "citations_delta", citation },
  );
  if (withCall)
    yield block(
      3,
      { type: "tool_use", id: "toolu_1", name: "note", input: {} },
      { type: "input_json_delta", partial_json: "{}" },
    );
  yield typed({
    type: "message_delta",
    delta: { stop_reason: withCall ? "tool_use" : "end_turn", stop_sequence: null },
    usage: { input_tokens: 1000, output_tokens: 100, server_tool_use: { web_search_requests: 1 } },
  });
  yield typed({ type: "message_stop" });
}

/** Claude's answer that is paused within a search, in a container: the first one, or one that goes on with it. */
function* claudePauses(index: number): Generator<string> {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  yield typed({ type: "message_start", message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } });
  const block = (index: number, content_block: object, ...deltas: object[]) =>
    typed({ type: "content_block_start", index, content_block }) +
    deltas.map((delta) => typed({ type: "content_block_delta", index, delta })).join("") +
    typed({ type: "content_block_stop", index });
  if (index === 0) yield block(0, { type: "text", text: "" }, { type: "text_delta", text: "I look." });
  else yield block(0, { ...found, tool_use_id: `srvtoolu_0${index}` });
  const next = { ...search, id: `srvtoolu_0${index + 1}`, input: {} };
  yield block(1, next, { type: "input_json_delta", partial_json: `{"query":"search ${index + 1}"}` });
  const container = { id: "container_1", expires_at: "2026-11-29T12:00:00Z" };
  yield typed({
    type: "message_delta",
    delta: { stop_reason: "pause_turn", stop_sequence: null, container },
    usage: { input_tokens: 1000, output_tokens: 100, server_tool_use: { web_search_requests: 1 } },
  });
  yield typed({ type: "message_stop" });
}

const webSearchCall = {
  id: "ws_1",
  type: "web_search_call",
  status: "completed",
  action: { type: "search", query: "weather Oslo", sources: [{ type: "url", url: "https://example.com/rain" }] },
};
const annotation = {
  type: "url_citation",
  start_index: 0,
  end_index: 9,
  url: "https://example.com/rain",
  title: "Rain in Oslo",
};

/** GPT's answer with a search, and a call of the agent's own tool after it. */
function* gptSearches(withCall: boolean): Generator<string> {
  const response = { id: "resp_1", object: "response", created_at: 1_764_000_000, model: "gpt-5", output: [] };
  const item = (of: "added" | "done", output_index: number, item: object) =>
    typed({ type: `response.output_item.${of}`, output_index, item });
  yield typed({ type: "response.created", response: { ...response, status: "in_progress" } });
  yield item("added", 0, { ...webSearchCall, status: "in_progress", action: undefined });
  yield item("done", 0, webSearchCall);
  const said = { id: "msg_0", type: "message", role: "assistant" };
  yield item("added", 1, { ...said, status: "in_progress", content: [] });
  yield typed({
    type: "response.output_text.delta",
    item_id: "msg_0",
    output_index: 1,
    content_index: 0,
    delta: "It rains.",
  });
  yield typed({
    type: "response.output_text.annotation.added",
    item_id: "msg_0",
    output_index: 1,
    content_index: 0,
    annotation_index: 0,
    annotation,
  });
  const content = [{ type: "output_text", annotations: [annotation], text: "It rains." }];
  yield item("done", 1, { ...said, status: "completed", content });
  const call = { id: "fc_1", type: "function_call", call_id: "call_1", name: "note", arguments: "{}" };
  if (withCall) {
    yield item("added", 2, { ...call, status: "in_progress", arguments: "" });
    yield item("done", 2, { ...call, status: "completed" });
  }
  const usage = {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 100,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1100,
  };
  yield typed({
    type: "response.completed",
    response: { ...response, status: "completed", incomplete_details: null, usage },
  });
}

/** Gemini's answer with a search. */
function* geminiSearches(): Generator<string> {
  const groundingMetadata = {
    webSearchQueries: ["weather Oslo", "rain Oslo"],
    groundingChunks: [{ web: { uri: "https://example.com/rain", title: "Rain in Oslo" } }],
    groundingSupports: [],
  };
  const content = { role: "model", parts: [{ text: "It rains." }] };
  const usageMetadata = { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 };
  yield `data: ${JSON.stringify({ candidates: [{ content, index: 0, finishReason: "STOP", groundingMetadata }], usageMetadata })}\n\n`;
}

/** GPT's answer after code that it ran, streamed as OpenAI documents it. */
function* gptRuns(): Generator<string> {
  const response = { id: "resp_1", object: "response", created_at: 1_764_000_000, model: "gpt-5", output: [] };
  const code = 'print("é", 6 * 7)';
  const item = { id: "ci_1", type: "code_interpreter_call", container_id: "cntr_1" };
  const outputs = [{ type: "logs", logs: "é 42\n" }];
  const at = { output_index: 0, item_id: "ci_1" };
  yield typed({ type: "response.created", response: { ...response, status: "in_progress" } });
  const begun = { ...item, status: "in_progress", code: "", outputs: null };
  yield typed({ type: "response.output_item.added", output_index: 0, item: begun });
  for (const delta of [code.slice(0, 7), code.slice(7)])
    yield typed({ type: "response.code_interpreter_call_code.delta", ...at, delta });
  yield typed({ type: "response.code_interpreter_call_code.done", ...at, code });
  const done = { ...item, status: "completed", code, outputs };
  yield typed({ type: "response.output_item.done", output_index: 0, item: done });
  const said = { id: "msg_0", type: "message", role: "assistant" };
  yield typed({ type: "response.output_item.added", output_index: 1, item: said });
  const text = { item_id: "msg_0", output_index: 1, content_index: 0, delta: "42." };
  yield typed({ type: "response.output_text.delta", ...text });
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  yield typed({ type: "response.completed", response: { ...response, status: "completed", usage } });
}

let runsCode = false;
let withCall = false;
/** Number of answers that are paused. */
let pauses = 0;
let paused = 0;
const providers = startProviders(({ provider, body }) => {
  if (runsCode) return gptRuns();
  if (pauses > 0) {
    pauses--;
    return claudePauses(paused++);
  }
  const isFirst = provider === "openai" ? body.input.length === 2 : body.messages?.length === 1;
  if (provider === "google") return geminiSearches();
  if (!isFirst) return [wires[provider].begin(), wires[provider].text("Noted."), wires[provider].end()];
  return provider === "openai" ? gptSearches(withCall) : claudeSearches(withCall);
});
const lastBody = () => String(providers.bodies.at(-1));

let server: TestApp;
let client: Client;
let note: string;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
  for (const connection of providers.connections) await server.connections.put(connection, testActor);
  note = (await client.post("/v1/tools", { name: "note" })).body.id;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
});

const post = (provider: ConnectionProvider, model: string, more: object) => {
  const fullName = `${modelPrefix(providers.connectionOf(provider))}/${model}`;
  return client.post("/v1/agents", { name: "a", instructions: "Look.", model: fullName, ...more });
};
async function newAgent(provider: ConnectionProvider, model: string, more: object): Promise<string> {
  const { status, body } = await post(provider, model, more);
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body.id;
}
const run = async (agent_id: string, more: object = {}): Promise<Answer["body"]> =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Weather?", ...more })).body;
const modelSteps = async (id: string): Promise<Answer["body"][]> =>
  (await client.get(`/v1/traces/${id}`)).body.steps.filter(({ type }: { type: string }) => type === "model_call");
const webSearch = { provider_tools: [{ type: "web_search", max_uses: 3 }] };
/** For a provider that cannot limit its uses. */
const unlimited = { provider_tools: [{ type: "web_search" }] };
const sources = [{ url: "https://example.com/rain", title: "Rain in Oslo" }];

describe("a provider's web search", () => {
  test.each<[ConnectionProvider, string, string[], object, number]>([
    [
      "anthropic",
      "claude-sonnet-4-5",
      ['"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3}]'],
      { query: "weather Oslo" },
      0.01,
    ],
    ["openai", "gpt-5", ['"tools":[{"type":"web_search"}]', '"max_tool_calls":3'], {}, 0.01],
  ])("is declared to %s, and the trace has its calls, sources and cost", async (provider, model, sent, args, usd) => {
    withCall = false;
    const ended = await run(await newAgent(provider, model, webSearch));
    expect(ended).toMatchObject({ status: "completed", output: "It rains.", tool_calls: [] });
    for (const part of sent) expect(lastBody()).toContain(part);
    expect(ended.messages.at(-1)).toMatchObject({ content: "It rains.", sources });
    const [step] = await modelSteps(ended.id);
    expect(step.output).toMatchObject({
      content: "It rains.",
      tool_calls: [],
      provider_calls: [{ name: "web_search", arguments: args, is_error: false }],
      sources,
    });
    expect(step.usage.web_searches).toBe(1);
    expect(step.usage.cost_usd).toBeGreaterThanOrEqual(usd);
    const replay = await client.post(`/v1/runs/${ended.id}/replay`, { mode: "verify" });
    expect(replay.body.replay.divergences).toEqual([]);
  });

  test("of Google has no calls, but sources and a cost", async () => {
    const ended = await run(await newAgent("google", "gemini-2.5-flash", unlimited));
    expect(lastBody()).toContain('"tools":[{"googleSearch":{}}]');
    const [step] = await modelSteps(ended.id);
    const message = "The provider has no limit for web_search: the model may use it more often than 5 times.";
    expect(step.adjustments).toEqual([{ field: "max_uses", message }]);
    expect([step.output.sources, step.usage.web_searches]).toEqual([sources, 2]);
    expect(step.usage.cost_usd).toBeGreaterThanOrEqual(0.035);
    expect(step.usage.cost_usd).toBeLessThan(0.04);
  });

  test.each<[ConnectionProvider, string, string]>([
    [
      "anthropic",
      "claude-sonnet-4-5",
      `{"role":"assistant","content":[${JSON.stringify(search)},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_01","content":[{"url":"https://example.com/rain","title":"Rain in Oslo","page_age":"April 30, 2025","encrypted_content":"EqgfCioIARgBIiQ3YTAwMjY1Mi1mZjM5","type":"web_search_result"}]},{"type":"text","text":"It rains.","citations":[{"type":"web_search_result_location","cited_text":"It rains.","url":"https://example.com/rain","title":"Rain in Oslo","encrypted_index":"Eo8BCioIAhgBIiQyYjQ0OWJmZi1lNm"}]},{"type":"tool_use"`,
    ],
    [
      "openai",
      "gpt-5",
      `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"weather Oslo","sources":[{"type":"url","url":"https://example.com/rain"}]}},{"role":"assistant","content":"It rains."},{"type":"function_call"`,
    ],
  ])("goes back to %s unchanged in the next turn of the run", async (provider, model, sent) => {
    withCall = true;
    const asked = await run(await newAgent(provider, model, { ...webSearch, tools: [note] }));
    const [call] = asked.required_action.submit_tool_outputs.tool_calls;
    await client.post(`/v1/runs/${asked.id}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: call.tool_call_id, output: "ok" }],
      stream: true,
    });
    const ended = (await client.get(`/v1/runs/${asked.id}`)).body;
    expect([ended.status, ended.output, ended.tool_calls.length]).toEqual(["completed", "Noted.", 1]);
    expect(lastBody()).toContain(sent);
  });

  test("does not go to a later run of the thread, where only the text is left", async () => {
    withCall = false;
    const thread_id = (await client.post("/v1/threads", {})).body.id;
    const agent_id = await newAgent("anthropic", "claude-sonnet-4-5", {
      ...webSearch,
      memory: { history: { mode: "thread" } },
    });
    await run(agent_id, { thread_id });
    await run(agent_id, { thread_id });
    expect(lastBody()).toContain('{"role":"assistant","content":[{"type":"text","text":"It rains."}]}');
    expect(lastBody()).not.toContain("encrypted_content");
  });

  test("is reserved in the budget with all its uses before the model is asked", async () => {
    withCall = false;
    const price = async (max_cost_usd: number) => {
      const tools = {
        provider_tools: [{ type: "web_search", max_uses: 20 }],
        model_settings: { max_output_tokens: 100 },
      };
      return run(await newAgent("anthropic", "claude-sonnet-4-5", tools), { budget: { max_cost_usd } });
    };
    expect(await price(0.15)).toMatchObject({
      status: "failed",
      error: { code: "budget_exceeded" },
      usage: { model_calls: 0 },
    });
    expect((await price(0.25)).status).toBe("completed");
  });
});

test("the code that OpenAI ran and its output are asked for, and are in the trace", async () => {
  runsCode = true;
  const ended = await run(await newAgent("openai", "gpt-5", { provider_tools: [{ type: "code_execution" }] }));
  runsCode = false;
  expect(ended.output).toBe("42.");
  expect(JSON.parse(lastBody()).include).toContain("code_interpreter_call.outputs");
  const [step] = await modelSteps(ended.id);
  expect(step.usage.code_executions).toBe(1);
  expect(step.output.provider_calls).toEqual([
    {
      id: "ci_1",
      name: "code_execution",
      arguments: { code: 'print("é", 6 * 7)', containerId: "cntr_1" },
      result: { outputs: [{ type: "logs", logs: "é 42\n" }] },
      is_error: false,
    },
  ]);
});

describe("a long turn that Anthropic pauses", () => {
  test("goes on with the whole answer, in its container, and costs both calls", async () => {
    [pauses, paused] = [2, 0];
    const ended = await run(await newAgent("anthropic", "claude-sonnet-4-5", webSearch));
    expect([ended.status, ended.output, ended.usage.model_calls]).toEqual(["completed", "Noted.", 3]);
    const { messages, container } = JSON.parse(lastBody());
    expect(container).toBe("container_1");
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant"]);
    expect(messages[1].content).toMatchObject([
      { type: "text", text: "I look." },
      { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: { query: "search 1" } },
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_01" },
      { type: "server_tool_use", id: "srvtoolu_02", name: "web_search", input: { query: "search 2" } },
    ]);
    const steps = await modelSteps(ended.id);
    expect(steps.map((step) => [step.finish_reason, step.usage.web_searches ?? 0])).toEqual([
      ["pause", 1],
      ["pause", 1],
      ["stop", 0],
    ]);
    expect(ended.usage.cost_usd).toBeGreaterThanOrEqual(0.02);
    const replay = await client.post(`/v1/runs/${ended.id}/replay`, { mode: "verify" });
    expect(replay.body.replay.divergences).toEqual([]);
  });

  test.each([
    ["google", "gemini-3-flash", "contents", { role: "user", parts: [{ text: "Continue." }] }],
    ["openai", "gpt-5", "input", { role: "user", content: [{ type: "input_text", text: "Continue." }] }],
  ] as const)(
    "is continued by a model of %s, which is asked to: it has no pauses",
    async (provider, model, list, last) => {
      [pauses, paused] = [2, 0];
      const ended = await run(await newAgent("anthropic", "claude-sonnet-4-5", unlimited));
      const [, second] = await modelSteps(ended.id);
      const edits = { model: `${provider}/${model}` };
      const fork = await client.post(`/v1/runs/${ended.id}/fork?wait=60`, { step_index: second.step_index, edits });
      expect(fork.body).toMatchObject({ status: "completed", error: null });
      const sent = JSON.parse(lastBody())[list];
      expect(sent.at(-1)).toEqual(last);
      expect(JSON.stringify(sent)).toContain("I look.");
      const replay = await client.post(`/v1/runs/${fork.body.id}/replay`, { mode: "verify" });
      expect(replay.body.replay.divergences).toEqual([]);
    },
  );

  test("is over in a fork that edits the paused answer", async () => {
    [pauses, paused] = [1, 0];
    const ended = await run(await newAgent("anthropic", "claude-sonnet-4-5", unlimited));
    const [first] = await modelSteps(ended.id);
    const asked = providers.bodies.length;
    const edits = { model_output: { content: "It is dry." } };
    const fork = await client.post(`/v1/runs/${ended.id}/fork?wait=60`, { step_index: first.step_index, edits });
    expect(fork.body).toMatchObject({ status: "completed", output: "It is dry." });
    expect(providers.bodies).toHaveLength(asked);
  });

  test("ends after the run's turns, if it is paused again and again", async () => {
    [pauses, paused] = [99, 0];
    const ended = await run(await newAgent("anthropic", "claude-sonnet-4-5", { ...webSearch, max_turns: 3 }));
    pauses = 0;
    expect(ended).toMatchObject({
      status: "failed",
      error: { code: "max_turns_exceeded" },
      usage: { model_calls: 3 },
    });
  });
});

test("code execution is declared to each provider", async () => {
  const tools = { provider_tools: [{ type: "code_execution" }] };
  for (const [provider, model, sent] of [
    ["anthropic", "claude-sonnet-4-5", '"tools":[{"type":"code_execution_20250825","name":"code_execution"}]'],
    ["openai", "gpt-5", '"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]'],
    ["google", "gemini-2.5-flash", '"tools":[{"codeExecution":{}}]'],
  ] as const) {
    withCall = false;
    await run(await newAgent(provider, model, tools));
    expect(lastBody()).toContain(sent);
  }
});

describe("provider_tools", () => {
  test("are stored with their defaults, and can be taken away", async () => {
    const { body } = await post("anthropic", "claude-sonnet-4-5", { provider_tools: [{ type: "web_search" }] });
    expect(body.provider_tools).toEqual([{ type: "web_search", max_uses: 5 }]);
    const changed = await client.patch(`/v1/agents/${body.id}`, { provider_tools: null });
    expect([changed.status, changed.body.provider_tools, changed.body.version]).toEqual([200, [], 2]);
  });

  test.each<[string, ConnectionProvider, string, object, string]>([
    [
      "a provider without them",
      "ollama",
      "llama3",
      { provider_tools: [{ type: "web_search" }] },
      "provider_tools[0].type",
    ],
    ["an unknown one", "openai", "gpt-5", { provider_tools: [{ type: "computer" }] }, "provider_tools[0].type"],
    [
      "the same one twice",
      "openai",
      "gpt-5",
      { provider_tools: [{ type: "web_search" }, { type: "web_search" }] },
      "provider_tools[1].type",
    ],
    [
      "a filter that the provider does not have",
      "openai",
      "gpt-5",
      { provider_tools: [{ type: "web_search", blocked_domains: ["example.com"] }] },
      "provider_tools[0].blocked_domains",
    ],
    [
      "a limit that Google does not have",
      "google",
      "gemini-2.5-flash",
      { provider_tools: [{ type: "web_search", max_uses: 3 }] },
      "provider_tools[0].max_uses",
    ],
    [
      "a limit of code that Anthropic does not have",
      "anthropic",
      "claude-sonnet-4-5",
      { provider_tools: [{ type: "code_execution", max_uses: 1 }] },
      "provider_tools[0].max_uses",
    ],
    [
      "both filters",
      "anthropic",
      "claude-sonnet-4-5",
      { provider_tools: [{ type: "web_search", blocked_domains: ["a.com"], allowed_domains: ["b.com"] }] },
      "provider_tools[0].blocked_domains",
    ],
  ])("for %s are refused when the agent is saved", async (_, provider, model, more, param) => {
    const { status, body } = await post(provider, model, more);
    expect([status, body.error.code, body.error.param]).toEqual([400, "validation_failed", param]);
  });

  test("of xAI are refused, and so is its Live Search, which its API no longer has", async () => {
    const search = { search_parameters: { mode: "auto" } };
    for (const [more, param] of [
      [{ provider_tools: [{ type: "web_search" }] }, "provider_tools[0].type"],
      [{ model_settings: { extra_body: search } }, "model_settings.extra_body.search_parameters"],
      [{ model_settings: { provider_options: search } }, "model_settings.provider_options.search_parameters"],
    ] as const) {
      const { status, body } = await post("xai", "grok-4.3", more);
      expect([status, body.error.param]).toEqual([400, param]);
    }
    expect((await post("groq", "llama-3.3-70b", { model_settings: { extra_body: search } })).status).toBe(201);
  });

  test("beside tools of the agent are refused for a model that takes only one kind", async () => {
    const { status, body } = await post("google", "gemini-2.5-flash", { ...unlimited, tools: [note] });
    expect([status, body.error.param]).toEqual([400, "provider_tools"]);
    expect((await post("google", "gemini-3-pro-preview", { ...unlimited, tools: [note] })).status).toBe(201);
  });

  test("are refused with the run, or the change, that names a model without them", async () => {
    const agent_id = await newAgent("anthropic", "claude-sonnet-4-5", webSearch);
    const overrides = { model: "ollama/llama3" };
    const refused = await client.post("/v1/runs", { agent_id, input: "?", overrides });
    expect([refused.status, refused.body.error.param]).toEqual([400, "overrides.provider_tools[0].type"]);
    const changed = await client.patch(`/v1/agents/${agent_id}`, overrides);
    expect([changed.status, changed.body.error.param]).toEqual([400, "provider_tools[0].type"]);
  });
});

test("a call whose result was cut off does not go back, because the provider would refuse it", async () => {
  const { callOptions } = await import("../runtime/models/call-options.ts");
  const item = (kind: string, id: string) => ({
    type: "text" as const,
    text: "",
    metadata: { provider_item: { provider: "anthropic", kind, id, name: "web_search", value: {} } },
  });
  const parts = [item("call", "a"), item("result", "a"), item("call", "cut"), { type: "text" as const, text: "So." }];
  const messages = [{ role: "assistant" as const, parts }];
  const sentTo = (provider: string) => {
    const { prompt } = callOptions({ messages, tools: [], settings: {} }, "text", provider);
    return prompt.flatMap(({ content }) => (typeof content === "string" ? [] : content.map(({ type }) => type)));
  };
  expect(sentTo("anthropic")).toEqual(["tool-call", "tool-result", "text"]);
  // Another provider does not know these calls.
  expect(sentTo("openai")).toEqual(["text"]);
});

test("a fallback that does not run its predecessor's tools gets none, and the trace says so", async () => {
  const { chatRequest } = await import("../runtime/models/chat-request.ts");
  const { adjustmentsOf } = await import("../runtime/models/chat-adjustments.ts");
  const { plainDialect } = await import("../runtime/models/chat-dialect.ts");
  const request = {
    messages: [{ role: "user" as const, content: "Weather?" }],
    tools: [],
    settings: {},
    provider_tools: [{ type: "web_search" as const, max_uses: 3 }],
  };
  expect(JSON.stringify(chatRequest("m", request, { streamed: true, format: "schema" }, plainDialect))).not.toContain(
    "web_search",
  );
  expect(adjustmentsOf(request, "m", plainDialect, new Set())).toMatchObject([{ field: "web_search" }]);
});

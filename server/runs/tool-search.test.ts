import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { ScriptEntry } from "../domain/model-call.ts";
import { startAnthropicCache } from "../testing/anthropic-cache.ts";
import { exportOf } from "../testing/capsules.ts";
import { manyTools, startManyTools, toolModel, toolTasks } from "../testing/many-tools.ts";
import type { ChatAnswer } from "../testing/model-server.ts";
import { startChatServer } from "../testing/model-server.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

const office = startManyTools();
const bodies: { tools?: { function: { name: string } }[] }[] = [];
let answers: (body: Parameters<ReturnType<typeof toolModel>>[0]) => ChatAnswer = toolModel("office");
const model = startChatServer((body) => {
  bodies.push(body);
  return answers(body);
});
let server: TestApp;
let client: Client;
let officeId: string;
beforeAll(async () => {
  server = testApp({ environment: model.environment });
  client = await server.client();
  const tool = { name: "office", type: "mcp", server_url: office.url };
  const made = (await client.post("/v1/tools", tool)).body;
  expect(made.tools).toHaveLength(60);
  officeId = made.id;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await office.stop();
});
beforeEach(() => {
  bodies.length = 0;
  office.calls.length = 0;
  answers = toolModel("office");
});

const newAgent = async (more: object = {}): Promise<string> => {
  const agent = { name: "Desk", instructions: "Help.", model: "openai_compatible/stub/m", tools: [officeId], ...more };
  const { body } = await client.post("/v1/agents", agent);
  expect(body.error ?? null).toBeNull();
  return body.id;
};
const scripted = (script: ScriptEntry[], more: object = {}) =>
  newAgent({ model: "test/script", model_settings: { script }, ...more });
const ran = async (body: object) => (await client.post("/v1/runs?wait=60", body)).body;
const modelCalls = async (id: string) =>
  (await client.get(`/v1/traces/${id}?include=prompt`)).body.steps.filter(
    ({ type }: { type: string }) => type === "model_call",
  );
const toolBytes = ({ tools = [] }: (typeof bodies)[number]): number => Buffer.byteLength(JSON.stringify(tools));
const sentNames = () => bodies.map(({ tools = [] }) => tools.map((tool) => tool.function.name));
const search = (query: string): ScriptEntry => ({ tool_calls: [{ name: "search_tools", arguments: { query } }] });
const calling = (name: string, args: Record<string, unknown>): ScriptEntry => ({
  tool_calls: [{ name, arguments: args }],
});

test("with 60 tools, the first request has less than 5 kB of tools, and every task is done as with all of them", async () => {
  const done: Record<string, { success: number; first: number }> = {};
  for (const tool_loading of ["auto", "all"]) {
    const agent_id = await newAgent({ tool_loading });
    let success = 0;
    bodies.length = 0;
    for (const { input, tool, arguments: args } of toolTasks) {
      office.calls.length = 0;
      const run = await ran({ agent_id, input });
      const isRight = office.calls.length === 1 && Bun.deepEquals(office.calls[0], { name: tool, arguments: args });
      if (run.status === "completed" && run.output === "It is done." && isRight) success++;
    }
    done[tool_loading] = { success, first: toolBytes(bodies[0]!) };
  }
  expect(done.all!.success).toBe(toolTasks.length);
  expect(done.auto!.success).toBe(done.all!.success);
  expect(done.auto!.first).toBeLessThan(5000);
  expect(done.all!.first).toBeGreaterThan(20_000);
}, 120_000);

test("each request begins with the tools of the one before, in this run and in the thread's next one", async () => {
  const agent_id = await newAgent();
  const inputs = [toolTasks[0]!, toolTasks[6]!, toolTasks[0]!];
  let thread_id = "new";
  for (const { input } of inputs) thread_id = (await ran({ agent_id, thread_id, input })).thread_id;
  const requests = bodies.map(({ tools }) => JSON.stringify(tools).slice(0, -1));
  for (const [index, request] of requests.entries()) if (index > 0) expect(request).toStartWith(requests[index - 1]!);
  expect(sentNames()[0]).toEqual(["search_tools"]);
  const last = sentNames().at(-1)!;
  expect(last).toEqual(expect.arrayContaining(["office_github_create_issue", "office_stripe_create_refund"]));
  // The third run has what it needs, and searches no more.
  expect(office.calls).toHaveLength(3);
  expect(bodies).toHaveLength(3 + 3 + 2);
});

test("the trace shows which tools were loaded at each model call, and a replay finds no difference", async () => {
  const run = await ran({ agent_id: await newAgent(), input: toolTasks[6]!.input });
  const calls = await modelCalls(run.id);
  const names = calls.map(({ tools_loaded }: { tools_loaded: string[] }) => tools_loaded);
  expect(names[0]).toEqual([]);
  expect(names[1]).toContain("office_stripe_create_refund");
  expect(calls[1].prompt.tools.map(({ name }: { name: string }) => name)).toEqual(["search_tools", ...names[1]]);
  const { steps } = (await client.get(`/v1/traces/${run.id}`)).body;
  expect(steps[1]).toMatchObject({
    type: "tool_call",
    tool_type: "tool_search",
    name: "search_tools",
    status: "completed",
  });
  for (const agent of ["pinned", "current"]) {
    const { body } = await client.post(`/v1/runs/${run.id}/replay`, { mode: "verify", agent });
    expect(body.replay.divergences).toEqual([]);
  }
  const imported = await client.post("/v1/traces", await exportOf(client, run.id));
  expect(imported.status).toBe(201);
  const few = await ran({ agent_id: await newAgent({ tool_loading: "all" }), input: toolTasks[6]!.input });
  expect((await modelCalls(few.id))[0]).not.toHaveProperty("tools_loaded");
});

test("a fork goes on with the loaded tools, and searches although it makes no other call", async () => {
  const run = await ran({ agent_id: await newAgent(), input: toolTasks[6]!.input });
  office.calls.length = 0;
  const edits = { instructions: "Help well." };
  const body = { step_index: -1, tools: "recorded_only", edits };
  const fork = (await client.post(`/v1/runs/${run.id}/fork?wait=60`, body)).body;
  expect([fork.status, fork.output, office.calls]).toEqual(["completed", "It is done.", []]);
});

test("a run may choose for itself, and the request's own tools are always there", async () => {
  const agent_id = await newAgent();
  const own = { type: "client", name: "look", description: "Looks." };
  answers = () => ({ text: "Hi.", prompt_tokens: 1, completion_tokens: 1 });
  await ran({ agent_id, input: "Hi.", tools: [own] });
  await ran({ agent_id, input: "Hi.", tools: [{ ...own, name: "search_tools" }] });
  await ran({ agent_id, input: "Hi.", overrides: { tool_loading: "all" } });
  const [first, second, third] = sentNames();
  expect(first).toEqual(["search_tools", "look"]);
  expect(second).toEqual(["search_tools_2", "search_tools"]);
  expect(third).toHaveLength(60);
  const wrong = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/echo",
    tool_loading: "some",
  });
  expect([wrong.status, wrong.body.error.param]).toEqual([400, "tool_loading"]);
});

test("an agent that was stored before the setting existed searches from its next run on", async () => {
  const agent_id = await newAgent();
  server.db.sqlite.run("UPDATE agents SET definition = json_remove(definition, '$.tool_loading') WHERE id = ?", [
    agent_id,
  ]);
  await server.db.write(() => {});
  const { body } = await client.patch(`/v1/agents/${agent_id}`, { description: "Older." });
  expect(body.tool_loading).toBe("auto");
  await ran({ agent_id, input: toolTasks[0]!.input });
  expect(sentNames()[0]).toEqual(["search_tools"]);
});

test("approval, guardrails and budgets apply to a tool that was searched for, as to every other", async () => {
  const script = [search("refund"), calling("office_stripe_create_refund", { charge: "ch_1" }), { text: "Done." }];
  await client.patch(`/v1/tools/${officeId}`, { approval: "always" });
  const waiting = await ran({ agent_id: await scripted(script), input: "Refund." });
  await client.patch(`/v1/tools/${officeId}`, { approval: "never" });
  expect(waiting.required_action.submit_tool_outputs.tool_calls).toMatchObject([
    { name: "office_stripe_create_refund", needs: "approval", tool_id: officeId },
  ]);
  const guardrail = (type: string, on: string, action: string, config: object) => ({
    guardrails: [{ type, on: [on], action, config }],
  });
  const only = guardrail("tool_allowlist", "tool_call", "block", { tools: ["office_gmail_send_email"] });
  const blocked = await ran({ agent_id: await scripted(script, only), input: "Refund." });
  expect(blocked.tool_calls.map(({ status }: { status: string }) => status)).toEqual(["completed", "failed"]);
  expect(blocked.tool_calls[1].error.code).toBe("guardrail_blocked");
  const hidden = guardrail("blocked_terms", "tool_output", "redact", { terms: ["office_stripe_create_refund"] });
  const redacted = await ran({ agent_id: await scripted(script.toSpliced(1, 1), hidden), input: "Refund." });
  expect((await modelCalls(redacted.id))[1].tools_loaded).not.toContain("office_stripe_create_refund");
  const poor = await ran({ agent_id: await scripted(script, { budget: { max_tool_calls: 1 } }), input: "Refund." });
  expect([poor.status, poor.error.code]).toEqual(["failed", "budget_exceeded"]);
  expect(office.calls).toEqual([]);
});

test("a model that calls a tool before it loads it is served, or told how", async () => {
  const script = [
    calling("functions.office_stripe_create_refund", { charge: "ch_1" }),
    calling("office_stripe_create_refund", { amount: "all" }),
    calling("office_stripe_create_refund", { charge: "ch_1" }),
    calling("office_gmail_add_label", { thread_id: "t" }),
    { text: "Done." },
  ];
  const run = await ran({ agent_id: await scripted(script), input: "Refund." });
  const codes = run.tool_calls.map(({ error }: { error: { code: string } | null }) => error?.code ?? null);
  expect(codes).toEqual(["tool_not_found", "invalid_arguments", null, null]);
  expect((await modelCalls(run.id)).map((call: { tools_loaded: string[] }) => call.tools_loaded)).toEqual([
    [],
    ["office_stripe_create_refund"],
    ["office_stripe_create_refund"],
    ["office_stripe_create_refund"],
    ["office_stripe_create_refund", "office_gmail_add_label"],
  ]);
});

test("a run whose model only searches asks it to stop, and ends with its turns", async () => {
  const agent_id = await scripted(
    Array.from({ length: 9 }, () => search("refund")),
    { max_turns: 6 },
  );
  const run = await ran({ agent_id, input: "Refund." });
  expect([run.status, run.error.code]).toEqual(["failed", "max_turns_exceeded"]);
  const notes = run.tool_calls.map(({ output }: { output: { note: string } }) => output.note);
  expect(notes[1]).toContain("Loaded already: office_stripe_create_refund");
  expect(notes[4]).toContain("5 times in a row");
  const last = (await modelCalls(run.id)).at(-1);
  expect(last.tools_loaded.length).toBeLessThanOrEqual(5);
});

test("tools of two servers with one name are both found, and each call reaches its own server", async () => {
  const two = [startManyTools(manyTools.slice(0, 2)), startManyTools(manyTools.slice(0, 2))] as const;
  const tools: string[] = [];
  for (const [at, { url }] of two.entries())
    tools.push((await client.post("/v1/tools", { name: `team${at}`, type: "mcp", server_url: url })).body.id);
  const script = [
    search("select:github_create_issue"),
    calling("team1_github_create_issue", { owner: "x" }),
    { text: "Done." },
  ];
  const run = await ran({ agent_id: await scripted(script, { tools, tool_loading: "deferred" }), input: "Go." });
  expect(run.tool_calls[0].output).toMatchObject({
    tools: [{ name: "team0_github_create_issue" }, { name: "team1_github_create_issue" }],
    not_found: ["github_create_issue"],
  });
  expect([two[0].calls.length, two[1].calls.length]).toEqual([0, 1]);
  for (const each of two) await each.stop();
});

test("a provider's cache has the whole prompt of each call that loads no further tool", async () => {
  const call = (name: string, input: object) => ({ calls: [{ name, input }] });
  const refund = call("office_stripe_create_refund", { charge: "ch_1" });
  const script = [call("search_tools", { query: "refund" }), refund, refund, { text: "Done." }];
  let asked = 0;
  await using anthropic = startAnthropicCache(() => script[asked++]!);
  const connection = {
    name: "anthropic",
    provider: "anthropic",
    base_url: anthropic.base_url,
    api_key: "sk-ant-0",
  } as const;
  await server.connections.put(connection, testActor);
  const instructions = Array.from({ length: 1000 }, (_, line) => `Rule ${line} says always be kind.`).join("\n");
  const agent_id = await newAgent({ model: "anthropic/claude-sonnet-4-5", instructions });
  const run = await ran({ agent_id, input: "Refund." });
  expect([run.status, run.output]).toEqual(["completed", "Done."]);
  const [, second, third, fourth] = anthropic.usages;
  const whole = (usage = second!) => usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  expect(third!.cache_read_input_tokens).toBe(whole());
  expect(fourth!.cache_read_input_tokens).toBe(whole(third));
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { limits } from "../../domain/limits.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { startWebhookReceiver } from "../../testing/webhook-receiver.ts";

const server = testApp();
let client: Client;
beforeAll(async () => {
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

type Body = Answer["body"];
const newAgent = async (name: string, script: object[], more: object = {}): Promise<string> => {
  const body = { name, instructions: `You are ${name}.`, model: "test/script", model_settings: { script }, ...more };
  const answer = await client.post("/v1/agents", body);
  expect(answer.status).toBe(201);
  return answer.body.id;
};
const transfer = (name: string, reason?: string): object => ({
  tool_calls: [{ name: `transfer_to_${name}`, arguments: reason === undefined ? {} : { reason } }],
});
const run = async (agent_id: string, more: object = {}): Promise<Body> => {
  const answer = await client.post("/v1/runs?wait=60", { agent_id, input: "My money, please.", ...more });
  expect(answer.status).toBe(201);
  return answer.body;
};
const newThread = async (): Promise<string> => (await client.post("/v1/threads", {})).body.id;
const saidIn = async (id: string): Promise<Body[]> =>
  (await client.get(`/v1/threads/${id}/messages?order=asc&limit=100`)).body.data;

describe("handoffs of an agent", () => {
  test("are given as ids or as objects, and shown with their defaults", async () => {
    const [a, b] = [await newAgent("a", []), await newAgent("b", [])];
    const handoffs = [a, { agent_id: b, description: "For sales.", filter: { messages: 5 } }];
    const id = await newAgent("desk", [], { handoffs });
    const shown = [
      { agent_id: a, filter: "all" },
      { agent_id: b, description: "For sales.", filter: { messages: 5 } },
    ];
    const { body } = await client.get(`/v1/agents/${id}`);
    expect(body.handoffs).toEqual(shown);
    const { body: changed } = await client.patch(`/v1/agents/${id}`, { handoffs: body.handoffs });
    expect(changed.version).toBe(1);
    expect((await client.patch(`/v1/agents/${id}`, { handoffs: null })).body.handoffs).toEqual([]);
  });

  test("are refused to the agent itself, to none that it sees, twice, and more than sixteen", async () => {
    const id = await newAgent("desk", []);
    const faultOf = async (handoffs: unknown) => {
      const { status, body } = await client.patch(`/v1/agents/${id}`, { handoffs });
      return [status, body.error.param];
    };
    const other = await server.client({ project: "other" });
    const foreign = (await other.post("/v1/agents", { name: "x", instructions: "x", model: "test/echo" })).body.id;
    const known = await newAgent("a", []);
    expect(await faultOf([id])).toEqual([400, "handoffs[0].agent_id"]);
    expect(await faultOf([foreign])).toEqual([400, "handoffs[0].agent_id"]);
    expect(await faultOf([known, { agent_id: known }])).toEqual([400, "handoffs[1].agent_id"]);
    expect((await faultOf(Array(limits.handoffs_per_agent + 1).fill(known)))[0]).toBe(400);
    expect((await faultOf([{ agent_id: known, filter: "some" }]))[0]).toBe(400);
    expect((await faultOf([{ agent_id: known, filter: { messages: 0 } }]))[0]).toBe(400);
  });

  test("become tools with the names of agents, unlike each other and any other tool", async () => {
    const [a, b, c] = [await newAgent("Rückgabe & Umtausch", []), await newAgent("A.b", []), await newAgent("a b", [])];
    const id = await newAgent("desk", [{ text: "Hm." }], { handoffs: [a, b, c] });
    const { id: runId } = await run(id);
    const { body: trace } = await client.get(`/v1/traces/${runId}?include=prompt`);
    const names = trace.steps[0].prompt.tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["transfer_to_ruckgabe_umtausch", "transfer_to_a_b", "transfer_to_a_b_2"]);
  });

  test("to a deleted agent are no tools any more, and other fields can still be changed", async () => {
    const a = await newAgent("a", []);
    const id = await newAgent("desk", [transfer("a"), { text: "I do it." }], { handoffs: [a] });
    expect((await client.delete(`/v1/agents/${a}`)).status).toBe(200);
    expect((await run(id)).tool_calls).toMatchObject([{ error: { code: "tool_not_found" } }]);
    expect((await client.patch(`/v1/agents/${id}`, { max_turns: 3 })).status).toBe(200);
  });

  test("to what was deleted since may stay when the agent is set again, and no other agent gets them", async () => {
    const [a, b] = [await newAgent("leaver", []), await newAgent("stayer", [])];
    await client.put(`/v1/agents/${b}/labels/beta`, { version: 1 });
    const id = await newAgent("keeper", [], { handoffs: [a, { agent_id: b, label: "beta" }] });
    await client.delete(`/v1/agents/${a}`);
    expect((await client.delete(`/v1/agents/${b}/labels/beta`)).status).toBe(200);
    const { body: before } = await client.get(`/v1/agents/${id}`);
    const { instructions, model, model_settings, handoffs } = before;
    const same = { instructions, model, model_settings, handoffs };
    const set = (name: string, body: object) => client.put(`/v1/agents/by-name/${name}`, body);
    expect((await set("keeper", same)).body.outcome).toBe("unchanged");
    expect((await set("keeper", { ...same, handoffs: [a] })).body.agent.handoffs).toEqual([handoffs[0]]);
    const refused = async (name: string, given: unknown) => {
      const { status, body } = await set(name, { ...same, handoffs: [given] });
      return [status, body.error.param];
    };
    expect(await refused("keeper", { agent_id: a, version: 1 })).toEqual([400, "handoffs[0].agent_id"]);
    expect(await refused("keeper", { agent_id: b, label: "beta" })).toEqual([404, "handoffs[0].label"]);
    expect(await refused("new keeper", a)).toEqual([400, "handoffs[0].agent_id"]);
  });
});

describe("after a handoff", () => {
  test("a thread has the whole conversation in order, who said what, and who answers now", async () => {
    const refunds = await newAgent("refunds", [{ text: "It is on its way." }]);
    const desk = await newAgent("desk", [{ text: "One moment.", ...transfer("refunds", "Money.") }], {
      handoffs: [refunds],
    });
    const thread_id = await newThread();
    expect((await client.get(`/v1/threads/${thread_id}`)).body.last_agent_id).toBeNull();
    await run(desk, { thread_id });
    expect((await saidIn(thread_id)).map(({ role, content, agent_id }) => [role, content, agent_id])).toEqual([
      ["user", "My money, please.", undefined],
      ["assistant", "One moment.", undefined],
      ["tool", "The conversation goes on with refunds.", undefined],
      ["assistant", "It is on its way.", refunds],
    ]);
    const thread = (await client.get(`/v1/threads/${thread_id}`)).body;
    expect(thread.last_agent_id).toBe(refunds);
    await run(thread.last_agent_id, { thread_id, input: "Thank you." });
    const last = (await saidIn(thread_id)).at(-1);
    expect([last.role, last.content]).toEqual(["assistant", "It is on its way."]);
    await run(desk, { thread_id: await newThread() });
  });

  test("the next agent reads what its thread had before, and none of the first one's instructions", async () => {
    const refunds = await newAgent("refunds", [{ text: "Yes." }]);
    const desk = await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] });
    const thread_id = await newThread();
    await client.post(`/v1/threads/${thread_id}/messages`, { role: "user", content: "I am Ada." });
    await client.post(`/v1/threads/${thread_id}/messages`, { role: "assistant", content: "Hello, Ada." });
    const { id } = await run(desk, { thread_id });
    const { body: trace } = await client.get(`/v1/traces/${id}?include=prompt`);
    const { messages } = trace.steps.filter(({ type }: Body) => type === "model_call")[1].prompt;
    expect(messages.map(({ role, content, parts }: Body) => [role, content ?? parts[0].text])).toEqual([
      ["system", "You are refunds."],
      ["user", "I am Ada."],
      ["assistant", "Hello, Ada."],
      ["user", "My money, please."],
    ]);
  });

  test("usage is that of all agents, and each model call has its own model", async () => {
    const refunds = await newAgent("refunds", [], { model: "test/echo", model_settings: {} });
    const desk = await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] });
    const { id, usage, output } = await run(desk);
    expect(output).toBe("My money, please.");
    const { body: trace } = await client.get(`/v1/traces/${id}`);
    const calls = trace.steps.filter(({ type }: Body) => type === "model_call");
    expect(calls.map(({ model }: Body) => model)).toEqual(["test/script", "test/echo"]);
    const total = calls.reduce((sum: number, { usage }: Body) => sum + usage.input_tokens, 0);
    expect([usage.model_calls, usage.input_tokens]).toEqual([2, total]);
    expect(trace.steps[1]).toMatchObject({
      type: "handoff",
      handoff: { from_agent_id: desk, agent_id: refunds, agent_name: "refunds" },
    });
  });

  test("the output fits the schema of the agent that answers, which may correct itself once", async () => {
    const output_schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    const refunds = await newAgent("refunds", [{ text: "Yes." }, { text: '{"ok": true}' }], { output_schema });
    const desk = await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] });
    expect((await run(desk)).output_json).toEqual({ ok: true });
    const plain = await newAgent("plain", [{ text: "Yes." }]);
    const strict = await newAgent("strict", [transfer("plain")], { handoffs: [plain], output_schema });
    expect(await run(strict)).toMatchObject({ status: "completed", output: "Yes.", output_json: null });
  });

  test("the next agent's guardrails hold: for the input, for its answer, and with their redactions", async () => {
    const blocked = (on: string) => [
      { type: "blocked_terms", on: [on], action: "block", config: { terms: ["money"] } },
    ];
    const script = [{ text: "Your money." }];
    for (const on of ["input", "output"]) {
      const refunds = await newAgent("refunds", script, { guardrails: blocked(on) });
      const desk = await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] });
      expect((await run(desk)).error).toMatchObject({ code: "guardrail_blocked", guardrail: { on } });
    }
    const guardrails = [{ type: "blocked_terms", on: ["input"], action: "redact", config: { terms: ["money"] } }];
    const refunds = await newAgent("refunds", [], { model: "test/echo", model_settings: {}, guardrails });
    const desk = await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] });
    expect((await run(desk)).output).not.toContain("money");
  });

  test("an approval of the next agent's tool is asked for in the same run", async () => {
    const tool = { name: "pay", description: "Pays.", type: "client", approval: "always" };
    const { body: pay } = await client.post("/v1/tools", tool);
    const script = [{ tool_calls: [{ name: "pay", arguments: {} }] }, { text: "Paid." }];
    const refunds = await newAgent("refunds", script, { tools: [pay.id] });
    const desk = await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] });
    const waiting = await run(desk);
    const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
    expect([call.name, call.needs]).toEqual(["pay", "approval"]);
    const submit = (output: object) =>
      client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, {
        tool_outputs: [{ tool_call_id: call.tool_call_id, ...output }],
      });
    expect((await submit({ decision: "approve" })).status).toBe(200);
    expect((await submit({ output: "done" })).status).toBe(200);
    expect(await settledRun(server, client, waiting.id)).toMatchObject({
      status: "completed",
      output: "Paid.",
      last_agent_id: refunds,
    });
  });

  test("the next agent has its own number of model calls and its own budget, on top of what was used", async () => {
    const again = { tool_calls: [{ name: "none", arguments: {} }] };
    const short = await newAgent("short", [again, again, { text: "Done." }], { max_turns: 2 });
    const desk = await newAgent("desk", [transfer("short")], { handoffs: [short], max_turns: 1 });
    const stopped = await run(desk);
    expect([stopped.error.code, stopped.usage.model_calls]).toEqual(["max_turns_exceeded", 3]);
    const poor = await newAgent("poor", [{ text: "x" }], { budget: { max_total_tokens: 1 } });
    const rich = await newAgent("rich", [transfer("poor")], { handoffs: [poor] });
    expect((await run(rich)).error.code).toBe("budget_exceeded");
  });

  test("a strict replay matches, and a fork goes on with the agent of its step", async () => {
    const refunds = await newAgent("refunds", [{ text: "One." }]);
    const desk = await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] });
    const { id } = await run(desk);
    const { body: replay } = await client.post(`/v1/runs/${id}/replay`, { mode: "strict" });
    expect(replay.replay).toMatchObject({ divergences: [], matched_steps: 3 });
    for (const step_index of [0, 1]) {
      const fork = await client.post(`/v1/runs/${id}/fork`, { step_index });
      expect(fork.status).toBe(201);
      const body = await settledRun(server, client, fork.body.id);
      expect(body).toMatchObject({ status: "completed", output: "One.", last_agent_id: refunds });
    }
    await client.patch(`/v1/agents/${desk}`, { handoffs: null });
    const { body: other } = await client.post(`/v1/runs/${id}/replay`, { mode: "verify", agent: "current" });
    expect(other.replay.divergences.length).toBeGreaterThan(0);
  });

  test("a later version of the next agent changes no run that has begun", async () => {
    const wait = { type: "client", name: "wait", description: "Waits." };
    const { body: tool } = await client.post("/v1/tools", wait);
    const refunds = await newAgent("refunds", [{ text: "Old." }]);
    const script = [{ tool_calls: [{ name: "wait", arguments: {} }] }, transfer("refunds")];
    const desk = await newAgent("desk", script, { handoffs: [refunds], tools: [tool.id] });
    const waiting = await run(desk);
    await client.patch(`/v1/agents/${refunds}`, { model_settings: { script: [{ text: "New." }] } });
    const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
    const tool_outputs = [{ tool_call_id: call.tool_call_id, output: 1 }];
    await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, { tool_outputs });
    expect((await settledRun(server, client, waiting.id)).output).toBe("Old.");
    expect((await run(refunds)).output).toBe("New.");
  });

  test("an exported trace has the team without its secrets, and its import replays", async () => {
    const headers = { authorization: "Bearer top-secret-1234567" };
    const look = { name: "look", description: "Looks.", type: "http", url: "https://example.com", headers };
    const { body: tool } = await client.post("/v1/tools", look);
    const refunds = await newAgent("refunds", [{ text: "One." }], { tools: [tool.id] });
    const desk = await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] });
    const { id } = await run(desk);
    const { body: exported } = await client.get(`/v1/traces/${id}?include=raw`);
    expect(exported.agent.team).toMatchObject([{ name: "refunds", tools: [{ name: "look", http: null }] }]);
    expect(JSON.stringify(exported)).not.toContain("example.com");
  });

  test("the webhook of a handoff tells which run it was", async () => {
    await using receiver = startWebhookReceiver();
    const events = ["handoff.completed"];
    const { body: hook } = await client.post("/v1/webhooks", { url: receiver.url, events });
    const refunds = await newAgent("refunds", [{ text: "One." }]);
    const { id } = await run(await newAgent("desk", [transfer("refunds")], { handoffs: [refunds] }));
    const { body } = await client.get(`/v1/webhooks/${hook.id}/deliveries`);
    expect(body.data.map(({ type, run_id }: Body) => [type, run_id])).toEqual([["handoff.completed", id]]);
    await client.delete(`/v1/webhooks/${hook.id}`);
  });
});

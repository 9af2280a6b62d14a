import { expect, test } from "bun:test";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";

// Budgets of runs on the executable: a model on loopback that counts, and prices set by the operator.

const words = (count: number, pause_ms = 0) => `openai_compatible/stub/words-${count}-${pause_ms}`;

async function setPrice(server: Runnel, model: string, usd: number): Promise<void> {
  const { code } = await server.command("models", "prices", "set", model, "--input", `${usd}`, "--output", `${usd}`);
  expect(code).toBe(0);
}

async function setDay(server: Runnel, ...limits: string[]): Promise<void> {
  expect((await server.command("projects", "limits", "default", ...limits)).code).toBe(0);
}

const exceeded = (limit: string) => ({
  status: "failed",
  error: { code: "budget_exceeded", message: expect.stringContaining(limit) },
});

test("a run stays within its budget of tokens, cost, tool calls and time", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  await setPrice(server, words(50), 10);
  const agent_id = await createAgent(server, words(50));
  const within = await runToEnd(server, agent_id, { budget: { max_total_tokens: 100_000, max_cost_usd: 5 } });
  expect(within).toMatchObject({ status: "completed", usage: { total_tokens: 70, cost_usd: 0.0007 } });
  const asked = model.requests.length;
  for (const [limit, most] of Object.entries({ max_total_tokens: 30, max_cost_usd: 0.0001 }))
    expect(await runToEnd(server, agent_id, { budget: { [limit]: most } })).toMatchObject(exceeded(`budget.${limit}`));
  expect(model.requests).toHaveLength(asked);

  const { id } = await createTool(server, { name: "look", type: "client" });
  const calls = { tool_calls: Array(3).fill({ name: "look", arguments: { city: "Oslo" } }) };
  const caller = await createScripted(server, [{ text: "I look.", ...calls }], { tools: [id] });
  const tooMany = await runToEnd(server, caller, { budget: { max_tool_calls: 2 } });
  expect(tooMany).toMatchObject({ ...exceeded("budget.max_tool_calls"), output: "I look.", required_action: null });

  await setPrice(server, words(2000, 20), 10);
  const slow = await createAgent(server, words(2000, 20));
  const late = await runToEnd(server, slow, { budget: { max_wall_ms: 8000 } });
  expect(late).toMatchObject({ ...exceeded("budget.max_wall_ms"), output: expect.stringMatching(/^a stream/) });
  expect([late.usage.estimated, late.usage.cost_usd > 0]).toEqual([true, true]);
  await model.requests.at(-1)!.aborted;
});

test("concurrent runs never exceed the daily budget, and the spent amount survives kill -9", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent_id = await createAgent(server, words(200, 2), { model_settings: { max_output_tokens: 200 } });
  await setDay(server, "--tokens-per-day", "1000");
  const runs = await Promise.all(Array.from({ length: 8 }, () => runToEnd(server, agent_id)));
  const completed = runs.filter(({ status }) => status === "completed");
  const refused = runs.filter(({ error }) => error?.code === "budget_exceeded");
  expect([completed.length + refused.length, refused.length > 0]).toEqual([8, true]);
  const spent = 220 * completed.length;
  expect(spent).toBeLessThanOrEqual(1000);
  expect(completed.length).toBeGreaterThan(1);
  const total = async (): Promise<number> => (await server.get("/v1/usage")).body.totals.total_tokens;
  expect(await total()).toBe(spent);
  await server.kill9();
  await server.restart();
  expect(await total()).toBe(spent);
  const later = await runToEnd(server, agent_id);
  expect(later).toMatchObject(exceeded(`${spent} are spent and 0 reserved`));
  await setDay(server, "--tokens-per-day", "off");
  expect((await runToEnd(server, agent_id)).status).toBe("completed");
});

test("a run that is killed in the middle knows its spent amount and its elapsed time", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const { id } = await createTool(server, { name: "look", type: "client" });
  const agent_id = await createAgent(server, "tools-1", { tools: [id] });
  const waiting = await runToEnd(server, agent_id, { budget: { max_total_tokens: 240 } });
  const wall = await runToEnd(server, agent_id, { budget: { max_wall_ms: 8000 } });
  expect([waiting.status, wall.status]).toEqual(["requires_action", "requires_action"]);
  await server.kill9();
  await server.restart();
  const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id: call.tool_call_id, output: "x".repeat(400) }];
  await using stream = await server.stream(`/v1/runs/${waiting.id}/submit_tool_outputs`, {
    body: { tool_outputs, stream: true },
  });
  await stream.rest();
  expect((await server.get(`/v1/runs/${waiting.id}`)).body).toMatchObject(exceeded("has used 28 of 240 tokens"));
  await using events = await server.stream(`/v1/runs/${wall.id}/events`);
  await events.rest();
  expect((await server.get(`/v1/runs/${wall.id}`)).body).toMatchObject(exceeded("budget.max_wall_ms"));
});

test("a price set while runs are in progress applies to runs created afterwards", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  await setPrice(server, words(100, 10), 10);
  const agent_id = await createAgent(server, words(100, 10));
  await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Go.", stream: true } });
  const { data } = await stream.until(({ event }) => event === "token");
  await setPrice(server, words(100, 10), 20);
  await stream.rest();
  const costOf = ({ usage }: Json): number => usage.cost_usd;
  expect(costOf((await server.get(`/v1/runs/${data.run_id}`)).body)).toBe(0.0012);
  expect(costOf(await runToEnd(server, agent_id))).toBe(0.0024);
});

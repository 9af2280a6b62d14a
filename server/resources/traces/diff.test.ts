import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { ScriptEntry } from "../../domain/model-call.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const call = (name: string, city: string): ScriptEntry => ({ tool_calls: [{ name, arguments: { city } }] });

async function begun(client: Client, script: ScriptEntry[], more: object = {}) {
  const draft = { name: "Clerk", instructions: "Be brief.", model: "test/script", model_settings: { script }, ...more };
  const { body: agent } = await client.post("/v1/agents", draft);
  const { status, body } = await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" });
  expect(status).toBe(201);
  return body;
}

async function ran(client: Client, ...script: ScriptEntry[]): Promise<{ id: string; agent_id: string }> {
  const run = await begun(client, script);
  expect(run.status).toBe("completed");
  return run;
}

/** Waits until the run has this status. */
async function reaches(server: TestApp, client: Client, id: string, status: string): Promise<void> {
  const watch = server.watches.join(id);
  while ((await client.get(`/v1/runs/${id}`)).body.status !== status) expect(await watch.next(10_000)).toBe(true);
  watch.leave();
}

test("a comparison shows for two runs the equal and changed steps, those of one only, and the costs", async () => {
  await using server = testApp();
  const client = await server.client();
  const a = await ran(client, call("look", "Paris"), { text: "Rain." });
  const b = await ran(client, call("look", "Rome"), call("again", "Rome"), { text: "Sun." });
  const { status, body } = await client.get(`/v1/runs/${a.id}/diff/${b.id}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ object: "diff", a: a.id, b: b.id, steps_has_more: false });
  expect(body.changes).toEqual({ equal: 0, changed: 3, only_a: 0, only_b: 2 });
  expect(body.steps).toMatchObject([
    { index: 0, type: "model_call", change: "changed" },
    { index: 1, change: "changed", differences: [{ path: "input.city", a: "Paris", b: "Rome" }] },
    { index: 2, a_step_index: null, b_step_index: 2, type: "model_call", change: "only_b" },
    { index: 3, a_step_index: null, b_step_index: 3, name: "again", change: "only_b", differences: [] },
    { index: 4, a_step_index: 2, b_step_index: 4, type: "model_call", change: "changed" },
  ]);
  const { usage, duration_ms, delta } = body;
  expect(delta.total_tokens).toBe(usage.b.total_tokens - usage.a.total_tokens);
  expect(delta.duration_ms).toBe(duration_ms.b - duration_ms.a);
  expect(delta.cost_usd).toBe(usage.b.cost_usd - usage.a.cost_usd);
});

test("a run equals itself", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await ran(client, call("look", "Paris"), { text: "Rain." });
  const { body } = await client.get(`/v1/runs/${id}/diff/${id}`);
  expect(body.changes).toEqual({ equal: 3, changed: 0, only_a: 0, only_b: 0 });
  expect(body.delta).toEqual({ cost_usd: 0, total_tokens: 0, duration_ms: 0 });
});

test("a run equals its replay, and a fork equals its source up to the fork", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", { name: "ask", type: "client", approval: "always" });
  const script = [call("ask", "Paris"), call("look", "Rome"), { text: "Rain." }];
  const run = await begun(client, script, { tools: [tool.id] });
  for (const answer of [{ decision: "approve", reason: "Sure." }, { output: { sky: "blue" } }]) {
    await reaches(server, client, run.id, "requires_action");
    const { body } = await client.get(`/v1/runs/${run.id}`);
    const [{ tool_call_id: id }] = body.required_action.submit_tool_outputs.tool_calls;
    const tool_outputs = [{ tool_call_id: id, ...answer }];
    expect((await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs })).status).toBe(200);
  }
  await reaches(server, client, run.id, "completed");
  const { body: replay } = await client.post(`/v1/runs/${run.id}/replay`, {});
  const { body: same } = await client.get(`/v1/runs/${run.id}/diff/${replay.id}`);
  expect(same.changes).toEqual({ equal: 5, changed: 0, only_a: 0, only_b: 0 });
  expect(same.delta.duration_ms).toBe(0);
  const edits = { tool_output: "dark" };
  const { status, body: fork } = await client.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: 1, edits });
  expect([status, fork.status]).toEqual([201, "completed"]);
  const { body: forked } = await client.get(`/v1/runs/${run.id}/diff/${fork.id}`);
  expect(forked.steps.slice(0, 3)).toMatchObject([
    { change: "equal" },
    { change: "changed", differences: [{ path: "output", a: { sky: "blue" }, b: "dark" }] },
    { type: "model_call", change: "changed" },
  ]);
});

test("the pages of a comparison join to the whole, and an invalid cursor is refused", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await ran(client, call("look", "Paris"), call("look", "Rome"), { text: "Rain." });
  const seen: number[] = [];
  for (let after = "", more = true; more; ) {
    const { body } = await client.get(`/v1/runs/${id}/diff/${id}?limit=2${after}`);
    seen.push(...body.steps.map(({ index }: { index: number }) => index));
    expect(body.changes.equal).toBe(5);
    more = body.steps_has_more;
    after = `&starting_after=${seen.at(-1)}`;
  }
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  for (const query of [
    "starting_after=9",
    "starting_after=-1",
    `starting_after=${newId("step")}`,
    "limit=0",
    "order=asc",
  ])
    expect((await client.get(`/v1/runs/${id}/diff/${id}?${query}`)).status).toBe(400);
});

test("a foreign run, one without its trace and a missing one give the same error, on either side", async () => {
  await using server = testApp();
  const client = await server.client();
  const [own, gone] = [await ran(client, { text: "Hi." }), await ran(client, { text: "Hi." })];
  await client.delete(`/v1/traces/${gone.id}`);
  const stranger = await server.client({ project: "other" });
  const foreign = await ran(stranger, { text: "Hi." });
  const bound = await server.client({ agent_ids: [own.agent_id] });
  for (const other of [gone.id, foreign.id, newId("run"), "run_x", newId("trace")])
    for (const path of [`${own.id}/diff/${other}`, `${other}/diff/${own.id}`])
      for (const asking of [client, bound]) {
        const { status, body } = await asking.get(`/v1/runs/${path}`);
        expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
      }
  expect((await bound.get(`/v1/runs/${own.id}/diff/${own.id}`)).status).toBe(200);
  const other = await ran(client, { text: "Hi." });
  expect((await bound.get(`/v1/runs/${own.id}/diff/${other.id}`)).status).toBe(404);
  const writer = await server.client({ scopes: ["run"] });
  expect((await writer.get(`/v1/runs/${own.id}/diff/${other.id}`)).status).toBe(200);
});

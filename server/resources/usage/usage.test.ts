import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { nanoUsd } from "../../domain/cost.ts";
import { newId } from "../../domain/ids.ts";
import type { RunEvent, RunUsage } from "../../domain/run-event.ts";
import { fold, isOver } from "../../domain/run-state.ts";
import { noUsage } from "../../domain/usage.ts";
import type { Db } from "../../storage/db/open.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { asNew, corpus, eventsOf, openUsageJournal } from "../../testing/usage-journal.ts";
import type { Counts } from "./usage-projection.ts";

const noon = Date.parse("2026-11-21T12:00:00Z");
/** Opens a journal with its tables, and the sums of all usage in it. */
async function openJournal() {
  const world = await openUsageJournal(noon);
  return { ...world, rows: () => rowsOf(world.db) };
}

type Row = Counts & { day: string; agent_id: string; model: string; project_id: string; environment: string };
const rowsOf = ({ sqlite }: Db): Row[] => sqlite.query<Row, []>("SELECT * FROM usage_days ORDER BY day, model").all();

describe("the usage of a day", () => {
  const files = readdirSync(corpus).filter((name) => name.endsWith(".jsonl"));

  test.each(files)("equals the count of the run itself: %s", async (file) => {
    using world = await openJournal();
    const { id, events } = asNew(eventsOf(file), world.project.id);
    for (const event of events) await world.journal.append(id, [event]);
    const state = fold(world.journal.read(id));
    const [row, ...others] = world.rows();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ day: "2026-11-21", agent_id: state.run.agent_id, model: state.run.model });
    expect(sumsOf(row!)).toEqual(expectedOf(state.usage));
    expect([row!.runs_started, row!.runs_completed + row!.runs_failed + row!.runs_cancelled]).toEqual([
      1,
      isOver(state.status) ? 1 : 0,
    ]);
    expect(row![`runs_${state.status}` as "runs_failed"] ?? 0).toBe(isOver(state.status) ? 1 : 0);
  });

  test("counts the cost of discarded and interrupted attempts", async () => {
    using world = await openJournal();
    const { id, events } = asNew(eventsOf("model-retries.jsonl"), world.project.id);
    const spent = { usage: { ...counts, input_tokens: 5 }, cost_usd: 0.125, estimated: true };
    await world.journal.append(
      id,
      events.map((event) => (event.type === "step.restarted" ? { ...event, spent } : event)),
    );
    const state = fold(world.journal.read(id));
    expect(state.usage.estimated).toBe(true);
    expect(sumsOf(world.rows()[0]!)).toEqual(expectedOf(state.usage));
    expect(world.rows()[0]!.estimated).toBe(events.filter(({ type }) => type === "step.restarted").length);
  });

  test("belongs to the day of each call: a run may continue on the next one", async () => {
    using world = await openJournal();
    const { id, events } = asNew(eventsOf("text-and-reasoning.jsonl"), world.project.id);
    await world.journal.append(id, events.slice(0, 2));
    world.clock.at = Date.parse("2026-11-22T00:00:00Z");
    await world.journal.append(id, events.slice(2));
    const days = world.rows().map(({ day, runs_started, model_calls }) => ({ day, runs_started, model_calls }));
    expect(days).toEqual([
      { day: "2026-11-21", runs_started: 1, model_calls: 0 },
      { day: "2026-11-22", runs_started: 0, model_calls: 1 },
    ]);
  });

  test("contains nothing that was rolled back or refused", async () => {
    using world = await openJournal();
    const { id, events } = asNew(eventsOf("text-and-reasoning.jsonl"), world.project.id);
    const failing = world.journal.commit(id, () => {
      world.journal.insert(id, events);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(world.rows()).toEqual([]);
    await world.journal.append(id, events);
    const once = world.rows();
    const late = events.find(({ type }) => type === "step.completed")!;
    await expect(world.journal.append(id, [late])).rejects.toThrow();
    expect(world.rows()).toEqual(once);
  });

  test("has the number of calls whose cost or tokens are unknown", async () => {
    using world = await openJournal();
    const { id, events } = asNew(eventsOf("text-and-reasoning.jsonl"), world.project.id);
    const unknown = { cost_usd: null, usage: { ...counts, input_tokens: null } };
    await world.journal.append(
      id,
      events.map((event) =>
        event.type === "step.completed" ? { ...event, answer: { ...event.answer!, ...unknown } } : event,
      ),
    );
    expect(world.rows()[0]).toMatchObject({ unknown_cost: 1, unknown_tokens: 1, cost_nano_usd: 0, input_tokens: 0 });
  });

  test("counts the judge of a guardrail, and a child run once", async () => {
    using world = await openJournal();
    const [created] = asNew(eventsOf("queued.jsonl"), world.project.id).events;
    if (created?.type !== "run.created") throw new Error("The corpus has changed.");
    const usage = { ...counts, input_tokens: 3 };
    await world.journal.append(created.run_id, [
      { ...created, queued: undefined },
      {
        type: "guardrail.decided",
        step_id: newId("step"),
        step_index: 0,
        turn_index: 0,
        tool_call_id: null,
        guardrail: { index: 0, type: "llm_judge", on: "input" },
        verdict: "passed",
        message: "",
        matches: 0,
        latency_ms: 1,
        spent: { usage, cost_usd: 0.5, estimated: false },
      },
      {
        type: "tool.completed",
        tool_call_id: newId("tool_call"),
        step_index: 1,
        tool: "helper",
        status: "completed",
        output: "",
        error: null,
        latency_ms: 1,
        attempts: 1,
        submitted: false,
        message_id: newId("message"),
        usage: { ...noUsage, input_tokens: 1000, model_calls: 7, cost_usd: 9 },
      },
    ] as RunEvent[]);
    expect(world.rows()[0]).toMatchObject({ model_calls: 1, input_tokens: 3, cost_nano_usd: 500_000_000 });
  });
});

const counts = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };

const sumsOf = (row: Row) => ({
  model_calls: row.model_calls,
  tool_calls: row.tool_calls,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  reasoning_tokens: row.reasoning_tokens,
  cost_nano_usd: row.cost_nano_usd,
});

const expectedOf = (usage: RunUsage): ReturnType<typeof sumsOf> => ({
  model_calls: usage.model_calls,
  tool_calls: usage.tool_calls,
  input_tokens: usage.input_tokens ?? 0,
  output_tokens: usage.output_tokens ?? 0,
  reasoning_tokens: usage.reasoning_tokens ?? 0,
  cost_nano_usd: nanoUsd(usage.cost_usd ?? 0),
});

describe("GET /v1/usage", () => {
  const makeAgent = async (client: Client, model = "test/echo"): Promise<string> =>
    (await client.post("/v1/agents", { name: "a", instructions: "", model })).body.id;
  const run = async (client: Client, agent_id: string): Promise<string> =>
    (await client.post("/v1/runs?wait=60", { agent_id, input: "one two three" })).body.id;

  test("groups by day, agent and model, and sums them up", async () => {
    let at = noon;
    await using server = testApp({ now: () => at });
    const client = await server.client();
    const agents = [await makeAgent(client), await makeAgent(client, "test/loops-forever")];
    await run(client, agents[0]!);
    at += 24 * 3_600_000;
    await run(client, agents[0]!);
    await run(client, agents[1]!);

    const byDay = (await client.get("/v1/usage")).body;
    expect(byDay).toMatchObject({
      object: "list",
      from: "2026-10-24",
      to: "2026-11-22",
      group_by: "day",
      has_more: false,
    });
    expect(byDay.data.map(({ day }: { day: string }) => day)).toEqual(["2026-11-21", "2026-11-22"]);
    expect(byDay.data[0]).toMatchObject({
      object: "usage",
      model_calls: 1,
      tool_calls: 0,
      cost_usd: 0,
      unknown_cost_calls: 0,
      estimated_calls: 0,
      runs: { started: 1, completed: 1, failed: 0, cancelled: 0 },
    });
    expect(byDay.data[0].input_tokens).toBeGreaterThan(0);
    expect(byDay.data[0].total_tokens).toBe(byDay.data[0].input_tokens + byDay.data[0].output_tokens);
    expect(byDay.totals.runs.started).toBe(3);

    const byAgent = (await client.get("/v1/usage?group_by=agent&from=2026-11-22&to=2026-11-22")).body;
    expect(byAgent.data.map(({ agent_id }: { agent_id: string }) => agent_id).sort()).toEqual(agents.toSorted());
    expect(byAgent.totals.runs.started).toBe(2);
    const byModel = (await client.get("/v1/usage?group_by=model&from=2026-11-21T23:00:00-02:00")).body;
    expect(byModel.from).toBe("2026-11-22");
    expect(byModel.data.map(({ model }: { model: string }) => model).sort()).toEqual([
      "test/echo",
      "test/loops-forever",
    ]);
    const nothing = (await client.get("/v1/usage?from=2025-01-01&to=2025-01-31&group_by=model")).body;
    expect([nothing.data, nothing.totals.runs.started, nothing.totals.cost_usd]).toEqual([[], 0, 0]);
  });

  test("includes runs and agents that were deleted", async () => {
    await using server = testApp();
    const client = await server.client();
    const agent = await makeAgent(client);
    const id = await run(client, agent);
    const before = (await client.get("/v1/usage?group_by=agent")).body;
    await client.delete(`/v1/runs/${id}`);
    await client.delete(`/v1/agents/${agent}`);
    const after = (await client.get("/v1/usage?group_by=agent")).body;
    expect([after.data, after.totals]).toEqual([before.data, before.totals]);
    expect(after.data).toHaveLength(1);
  });

  test("excludes other projects, the other environment, and agents outside a key's restriction", async () => {
    await using server = testApp();
    const client = await server.client();
    const [mine, other] = [await makeAgent(client), await makeAgent(client)];
    await run(client, mine);
    await run(client, other);
    const bound = await server.client({ scopes: ["read"], agent_ids: [mine] });
    const { data, totals } = (await bound.get("/v1/usage?group_by=agent")).body;
    expect(data.map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual([mine]);
    expect(totals.runs.started).toBe(1);
    expect((await bound.get("/v1/usage")).body.totals.runs.started).toBe(1);
    for (const stranger of [await server.client({ project: "other" }), await server.client({ environment: "live" })])
      expect((await stranger.get("/v1/usage")).body).toMatchObject({ data: [], totals: { runs: { started: 0 } } });
  });

  test.each([
    ["from=2026-02-30", "from"],
    ["from=21.11.2026", "from"],
    ["from=", "from"],
    ["to=now", "to"],
    ["group_by=user", "group_by"],
    ["group_by=", "group_by"],
    ["from=2026-11-21&to=2026-11-20", "to"],
    ["from=2025-11-20&to=2026-11-21", "from"],
  ])("refuses ?%s", async (query, param) => {
    await using server = testApp();
    const client = await server.client();
    const { status, body } = await client.get(`/v1/usage?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, "validation_failed", param]);
  });

  test("accepts a range of 366 days, and one in the future", async () => {
    await using server = testApp();
    const client = await server.client();
    for (const query of ["from=2025-11-21&to=2026-11-21", "from=2999-01-01", "to=2000-01-01"])
      expect((await client.get(`/v1/usage?${query}`)).status).toBe(200);
  });
});

test("a run's total usage is in the usage of its day, across a wait and a restart of unfinished runs", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", { name: "clock", type: "client" });
  const script = [{ tool_calls: [{ name: "clock", arguments: {} }] }, { text: "Done." }];
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  const { body: run } = await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Go." });
  await server.recover();
  const [{ tool_call_id: id }] = run.required_action.submit_tool_outputs.tool_calls;
  const answer = { tool_outputs: [{ tool_call_id: id, output: 1 }], stream: true };
  expect((await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, answer)).body).toContain("run.completed");
  await server.recover();
  const { usage } = (await client.get(`/v1/runs/${run.id}`)).body;
  expect(usage.model_calls).toBe(2);
  const { input_tokens, output_tokens, total_tokens, model_calls, tool_calls } = usage;
  expect((await client.get("/v1/usage")).body.totals).toMatchObject({
    input_tokens,
    output_tokens,
    total_tokens,
    model_calls,
    tool_calls,
    runs: { started: 1, completed: 1, failed: 0, cancelled: 0 },
  });
});

import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { firstIdAt, isId, newId } from "../../domain/ids.ts";
import { timestamp } from "../../domain/time.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { spansOf } from "./analytics-store.ts";

let time = Date.parse("2026-11-21T09:10:00.000Z");
const server = testApp({ now: () => time });
let client: Client;
let failing: string;
let calling: string;
const tool = "get_weather";
const hour = 3_600_000;

const agentOf = async (more: object): Promise<string> =>
  (await client.post("/v1/agents", { name: "a", instructions: "Say.", model: "test/script", ...more })).body.id;
const run = async (agent_id: string, more: object = {}): Promise<string> =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Go.", ...more })).body.id;

beforeAll(async () => {
  client = await server.client();
  const limits = { writes_per_minute: 1e6, run_creations_per_minute: 1e6, reads_per_minute: 1e6 };
  await server.projects.update(client.scope.project_id, { limits });
  failing = await agentOf({ model_settings: { script: [{ error: "model_error" }] } });
  const { id } = (await client.post("/v1/tools", { name: tool, type: "client" })).body;
  const script = [{ tool_calls: [{ name: tool, arguments: {} }] }, { text: "It rains." }];
  calling = await agentOf({ model_settings: { script }, tools: [id] });
  await run(failing, { user_id: "ann" });
  await run(failing, { user_id: "bob" });
  time += hour;
  const waiting = await run(calling, { user_id: "ann" });
  const { body } = await client.get(`/v1/runs/${waiting}`);
  const [call] = body.required_action.submit_tool_outputs.tool_calls;
  time += 2000;
  await client.post(`/v1/runs/${waiting}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, output: "x" }],
  });
  while ((await client.get(`/v1/runs/${waiting}`)).body.status !== "completed") await Bun.sleep(5);
  await server.search.catchUp();
});
afterAll(() => server[Symbol.asyncDispose]());

async function report(query: string, by = client) {
  const { status, body } = await by.get(`/v1/analytics?${query}`);
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
}
const counts = (series: { name: string; count: number }[]) => series.map(({ name, count }) => [name, count]);

test("runs are counted by model, agent and user, in the hour and on the day of their end", async () => {
  const { data, totals, bucket } = await report("group_by=model&bucket=hour&from=2026-11-21");
  expect(totals).toMatchObject({ count: 3, completed: 1, failed: 2, cancelled: 0 });
  expect([bucket, counts(data)]).toEqual(["hour", [["test/script", 3]]]);
  expect(data[0].points).toMatchObject([
    { at: "2026-11-21T09:00:00.000Z", count: 2, failed: 2 },
    { at: "2026-11-21T10:00:00.000Z", count: 1, completed: 1 },
  ]);
  expect((await report("bucket=day&group_by=model")).data[0].points).toMatchObject([
    { at: "2026-11-21T00:00:00.000Z", count: 3 },
  ]);
  const byCount = [
    [failing, 2],
    [calling, 1],
  ];
  expect(counts((await report("group_by=agent")).data)).toEqual(byCount);
  expect(counts((await report("group_by=user")).data)).toEqual([
    ["ann", 2],
    ["bob", 1],
  ]);
});

test("errors are counted by code, and tools by name with their durations", async () => {
  expect(counts((await report("group_by=error")).data)).toEqual([["model_error", 2]]);
  const { data } = await report("group_by=tool");
  expect(data).toMatchObject([{ name: tool, count: 1, completed: 1, failed: 0, average_ms: 2000 }]);
});

test("a histogram has its buckets in order, and percentiles of all", async () => {
  const { data, percentiles_ms: percentiles } = await report("group_by=duration");
  expect(data.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(3);
  expect(data.map(({ name }: { name: string }) => Number(name))).toEqual(
    data.map(({ name }: { name: string }) => Number(name)).toSorted((a: number, b: number) => a - b),
  );
  expect(percentiles.p99).toBeGreaterThanOrEqual(percentiles.p50);
  expect((await report("group_by=first_token")).totals.count).toBeGreaterThan(0);
});

test("a histogram by the hour reads whole days by the day, and only the remaining hours by the hour", async () => {
  const { sqlite } = server.db;
  const [day, from] = [24 * hour, Date.parse("2026-09-02T22:00:00Z")];
  const agent_id = newId("agent");
  const insert = sqlite.query(
    `INSERT INTO analytics (project_id, environment, dimension, unit, at_ms, agent_id, name, count,
       completed, failed, cancelled, input_tokens, output_tokens, cost_nano_usd, took_ms)
     VALUES (?, ?, 'duration', ?, ?, '${agent_id}', '64', ?, 0, 0, 0, 0, 0, 0, 0)`,
  );
  const { project_id, environment } = client.scope;
  // One run in each hour of five days, and the daily sums.
  for (let n = 0; n < 5 * 24; n++) insert.run(project_id, environment, "hour", from + n * hour, 1);
  for (let n = 0; n < 6; n++) {
    const at = Math.floor(from / day) * day + n * day;
    insert.run(project_id, environment, "day", at, n === 0 ? 2 : n === 5 ? 22 : 24);
  }
  const asked = (begin: number, hours: number) =>
    `group_by=duration&bucket=hour&agent_id=${agent_id}&from=${timestamp(begin)}&to=${timestamp(begin + hours * hour)}`;
  for (const [begin, hours] of [
    [0, 5 * 24],
    [0, 1],
    [1, 2],
    [1, 24],
    [2, 24],
    [3, 24],
    [2, 25],
    [1, 49],
    [13, 80],
  ] as const)
    expect([begin, hours, (await report(asked(from + begin * hour, hours))).totals.count]).toEqual([
      begin,
      hours,
      hours,
    ]);
  using query = spyOn(sqlite, "query");
  await report(asked(from, 5 * 24));
  const statements = query.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes("FROM analytics"));
  expect(statements).toHaveLength(3);
  for (const sql of statements) {
    const plan = sqlite
      .prepare<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...Array(sql.split("?").length - 1).fill(null));
    expect(plan[0]!.detail).toBe(
      "SEARCH analytics USING PRIMARY KEY (project_id=? AND environment=? AND dimension=? AND unit=? AND at_ms>? AND at_ms<?)",
    );
  }
  // The two hours of the first day, four days, and the 22 hours of the last one.
  expect(spansOf({ from_ms: from, to_ms: from + 5 * day, unit: "hour", group_by: "duration" })).toEqual([
    { unit: "hour", from_ms: from, to_ms: from + 2 * hour },
    { unit: "day", from_ms: from + 2 * hour, to_ms: from + 2 * hour + 4 * day },
    { unit: "hour", from_ms: from + 2 * hour + 4 * day, to_ms: from + 5 * day },
  ]);
});

test("a report can be filtered by agent, name and time", async () => {
  expect((await report(`agent_id=${failing}`)).totals.count).toBe(2);
  expect((await report("group_by=user&name=bob")).totals.count).toBe(1);
  expect((await report("to=2026-11-20&from=2026-11-19")).totals.count).toBe(0);
  expect((await report("from=2026-11-21T10:00:00Z&bucket=hour")).totals.count).toBe(1);
});

test.each([
  "group_by=x",
  "bucket=week",
  "from=yesterday",
  "from=2026-11-21&to=2026-11-20",
  "bucket=hour&from=2026-01-01",
  "agent_id=x",
])("an invalid time, bucket or group is refused: %p", async (query) =>
  expect((await client.get(`/v1/analytics?${query}`)).status).toBe(400),
);

test("a run is counted once, however often it is indexed", async () => {
  server.db.sqlite.run("UPDATE runs SET projected = projected & ~1");
  await server.search.catchUp();
  expect((await report("")).totals.count).toBe(3);
});

test("runs of earlier versions are counted like new ones", async () => {
  const before = await report("group_by=tool");
  server.db.sqlite.run("DELETE FROM analytics");
  server.db.sqlite.run("UPDATE runs SET projected = 0");
  await server.search.catchUp();
  expect({ ...(await report("group_by=tool")), request_id: null }).toEqual({ ...before, request_id: null });
});

test("a run and a fork count for the key that started them", async () => {
  const one = await testApp({ now: () => time });
  const [first, second] = [await one.client(), await one.client()];
  const { id } = (await first.post("/v1/agents", { name: "a", instructions: "Say.", model: "test/echo" })).body;
  for (const its of [first, second, second]) await its.post("/v1/runs?wait=60", { agent_id: id, input: "x" });
  const [{ id: run }] = (await first.get("/v1/runs")).body.data;
  await first.post(`/v1/runs/${run}/fork?wait=60`, { step_index: -1 });
  await one.search.catchUp();
  const { body } = await first.get("/v1/analytics?group_by=key");
  expect(body.data.map(({ count }: { count: number }) => count)).toEqual([2, 2]);
  const names = body.data.map(({ name }: { name: string }) => name);
  expect(new Set(names).size).toBe(2);
  expect(isId("api_key", names[0])).toBe(true);
  await one[Symbol.asyncDispose]();
});

test("replays are not counted", async () => {
  const { data } = (await client.get("/v1/runs?status=completed")).body;
  expect((await client.post(`/v1/runs/${data[0].id}/replay`, {})).status).toBe(201);
  await server.search.catchUp();
  expect((await report("")).totals.count).toBe(3);
});

test("for one agent and hour a hundred users have rows of their own, and the others share one", async () => {
  const one = await testApp({ now: () => time });
  const its = await one.client();
  const limits = { run_creations_per_minute: 1e6, writes_per_minute: 1e6 };
  await one.projects.update(its.scope.project_id, { limits });
  const { id } = (await its.post("/v1/agents", { name: "a", instructions: "Say.", model: "test/echo" })).body;
  for (let n = 0; n < 103; n++) await its.post("/v1/runs?wait=60", { agent_id: id, input: "x", user_id: `user-${n}` });
  await one.search.catchUp();
  const rows = one.db.sqlite
    .query<{ name: string; count: number }, []>(
      "SELECT name, count FROM analytics WHERE dimension = 'user' AND unit = 'hour'",
    )
    .all();
  expect(rows.length).toBe(101);
  expect(rows.find(({ name }) => name === "")!.count).toBe(3);
  await one[Symbol.asyncDispose]();
});

test("the report is invisible to other projects, and to a key restricted to another agent", async () => {
  for (const other of [await server.client({ project: "other" }), await server.client({ agent_ids: [newId("agent")] })])
    for (const group of [
      "model",
      "agent",
      "key",
      "user",
      "tool",
      "error",
      "duration",
      "first_token",
      "webhook",
      "schedule",
    ])
      expect((await report(`group_by=${group}`, other)).data).toEqual([]);
  expect((await report("", await server.client({ agent_ids: [failing] }))).totals.count).toBe(2);
});

test("erasing a user deletes their usage, and all sums stay", async () => {
  const its = await server.client({ project: "forgetting" });
  const { id } = (await its.post("/v1/agents", { name: "a", instructions: "Say.", model: "test/echo" })).body;
  for (const user_id of ["bob", "carl"]) await its.post("/v1/runs?wait=60", { agent_id: id, input: "x", user_id });
  await server.search.catchUp();
  expect((await its.delete("/v1/users/bob/data?wait=60")).status).toBe(200);
  expect(counts((await report("group_by=user", its)).data)).toEqual([["carl", 1]]);
  expect((await report("", its)).totals.count).toBe(2);
});

test("webhook deliveries and schedule times are counted by outcome", async () => {
  const { id } = (await client.post("/v1/webhooks", { url: "https://example.com/", events: ["run.completed"] })).body;
  const insert = server.db.sqlite.query(
    `INSERT INTO webhook_deliveries (project_id, environment, id, webhook_id, type, status, created_at_ms)
     VALUES (?, ?, ?, ?, 'run.completed', ?, ?)`,
  );
  const { project_id, environment } = client.scope;
  for (const [n, status] of ["delivered", "delivered", "failed"].entries())
    insert.run(project_id, environment, firstIdAt("delivery", time + n), id, status, time);
  const { data } = await report("group_by=webhook&bucket=hour&from=2026-11-21");
  expect(data).toMatchObject([{ name: id, count: 3, completed: 2, failed: 1, points: [{ count: 3 }] }]);
});

test("an unaccepted delivery counts as failed while it is retried, and one not yet tried does not count", async () => {
  const client = await server.client({ project: "hooks" });
  const { id } = (await client.post("/v1/webhooks", { url: "https://example.com/", events: ["run.failed"] })).body;
  const insert = server.db.sqlite.query(
    `INSERT INTO webhook_deliveries (project_id, environment, id, webhook_id, type, status, failures, created_at_ms)
     VALUES (?, ?, ?, ?, 'run.failed', 'pending', ?, ?)`,
  );
  const { project_id, environment } = client.scope;
  for (const [n, failures] of [0, 1, 9].entries())
    insert.run(project_id, environment, firstIdAt("delivery", time + 10 + n), id, failures, time);
  const { body } = await client.get("/v1/analytics?group_by=webhook&bucket=hour&from=2026-11-21");
  expect(body.data).toMatchObject([{ name: id, count: 3, completed: 0, failed: 2, cancelled: 0 }]);
});

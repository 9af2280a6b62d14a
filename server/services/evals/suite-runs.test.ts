import { expect, test } from "bun:test";
import { type App, createApp } from "../../app.ts";
import { type Log, silentLog } from "../../lib/log.ts";
import { createSeal } from "../../lib/seal.ts";
import { type Db, openDatabase } from "../../storage/db/open.ts";
import { codesOf, echoRun, runSuite, suiteOf, weatherAgent, weatherRun } from "../../testing/suites.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

test("with an unchanged agent every case is equal, and only the suite run is written", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const runs = [await weatherRun(client, agent), await weatherRun(client, agent)];
  const suite = await suiteOf(client, runs);
  const tables = all<{ name: string }>(server.db, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    .map(({ name }) => name)
    .filter((name) => !/^suite_run|fts|api_keys/.test(name));
  const rows = () => tables.map((table) => all(server.db, `SELECT * FROM "${table}"`));
  const before = rows();
  const done = await runSuite(client, suite, { metadata: { commit: "abc" } });
  expect(done).toMatchObject({
    object: "suite_run",
    suite_id: suite,
    status: "passed",
    live: null,
    metadata: { commit: "abc" },
    counts: { total: 2, pending: 0, equal: 2, diverged: 0, failed: 0 },
  });
  expect(done.completed_at).not.toBeNull();
  for (const each of done.cases)
    expect(each).toMatchObject({
      status: "equal",
      agent_version: 1,
      divergences: [],
      first_divergence: null,
      matched_steps: 3,
    });
  // No run, no usage, no webhook event.
  expect(rows()).toEqual(before);
  expect((await client.get(`/v1/suites/${suite}/runs`)).body.data).toMatchObject([{ id: done.id, status: "passed" }]);
  expect((await client.get(`/v1/suites/${suite}/runs?status=failed`)).body.data).toEqual([]);
  expect((await client.get(`/v1/suites/${suite}/runs/${done.id}`)).body).toMatchObject({ cases: done.cases });
});

test.each([
  ["other instructions", { instructions: "Sing it." }, { step_index: 0, kind: "prompt" }],
  [
    "a guardrail that blocks",
    { guardrails: [{ type: "blocked_terms", on: ["output"], action: "block", config: { terms: ["degrees"] } }] },
    { step_index: 2, kind: "guardrail" },
  ],
  [
    "an output schema",
    { output_schema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] } },
    { step_index: 0, kind: "prompt" },
  ],
  ["another model", { model: "test/echo", model_settings: {} }, { step_index: 0, kind: "prompt" }],
  ["fewer turns", { max_turns: 1 }, { step_index: 2, kind: "decision" }],
])("%s: the case diverges, and the first place is named", async (_, change, first) => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, [await weatherRun(client, agent)]);
  const changed = await client.patch(`/v1/agents/${agent}`, change);
  expect([changed.status, changed.body.error]).toEqual([200, undefined]);
  const { status, counts, cases } = await runSuite(client, suite);
  expect([status, counts.diverged]).toEqual(["diverged", 1]);
  expect(cases[0]).toMatchObject({ status: "diverged", agent_version: 2, first_divergence: first, error: null });
  expect(cases[0].divergences[0]).toEqual(cases[0].first_divergence);
});

test("a project's suite does not wait for all active suites of another one", async () => {
  await using server = testApp();
  const [noisy, quiet] = [await server.client(), await server.client({ project: "quiet" })];
  await server.projects.update(noisy.scope.project_id, { limits: { run_creations_per_minute: 0 } });
  const runsOf = async (client: Client, count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await echoRun(client)).run));
  const loud = await suiteOf(noisy, await runsOf(noisy, 15));
  const own = await suiteOf(quiet, await runsOf(quiet, 10));
  const started = await Promise.all(Array.from({ length: 10 }, () => noisy.post(`/v1/suites/${loud}/runs`, {})));
  expect(started.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  const decided = () =>
    all<{ n: number }>(server.db, "SELECT count(*) AS n FROM suite_run_cases WHERE status <> 'pending'")[0]!.n;
  const before = decided();
  expect((await runSuite(quiet, own)).status).toBe("passed");
  // Its own ten, and two of the other's for each; a single queue would run ten for each.
  expect(decided() - before).toBeLessThan(60);
});

test("a tool that now needs approval is named by its step and by its name", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent, tool } = await weatherAgent(client);
  const suite = await suiteOf(client, [await weatherRun(client, agent)]);
  await client.patch(`/v1/tools/${tool}`, { approval: "always" });
  const { status, cases } = await runSuite(client, suite);
  expect(status).toBe("diverged");
  const call = cases[0].divergences.find(({ kind }: { kind: string }) => kind === "tool_call");
  expect(call).toMatchObject({ step_index: 1, message: expect.stringContaining("weather") });
});

test("a tool whose arguments have another schema is named", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent, tool } = await weatherAgent(client);
  const suite = await suiteOf(client, [await weatherRun(client, agent)]);
  const parameters = { type: "object", properties: { city: { type: "number" } } };
  await client.patch(`/v1/tools/${tool}`, { parameters });
  const { cases } = await runSuite(client, suite);
  const kinds = cases[0].divergences.map(({ kind }: { kind: string }) => kind);
  expect(kinds).toContain("tool_call");
});

test("an unavailable model does not prevent a replay", async () => {
  await using server = testApp({ environment: { OPENAI_API_KEY: "none" } });
  const client = await server.client();
  const { agent, run } = await echoRun(client);
  const suite = await suiteOf(client, [run]);
  server.db.sqlite.query("UPDATE agents SET model = 'gone/model' WHERE id = ?").run(agent);
  const { status, cases } = await runSuite(client, suite);
  expect([status, cases[0].first_divergence.kind]).toEqual(["diverged", "prompt"]);
});

test("a case that cannot be compared fails, and the others go on", async () => {
  await using server = testApp();
  const client = await server.client();
  const [gone, damaged, fine] = [await echoRun(client), await echoRun(client), await echoRun(client)];
  const suite = await suiteOf(client, [gone.run, damaged.run, fine.run]);
  await client.delete(`/v1/agents/${gone.agent}`);
  server.db.sqlite.query("UPDATE run_events SET data = '{' WHERE run_id = ? AND seq = 2").run(damaged.run);
  const { status, cases } = await runSuite(client, suite);
  expect(status).toBe("failed");
  expect(
    cases.map((each: { status: string; error: { code: string } | null }) => [each.status, each.error?.code]),
  ).toEqual([
    ["failed", "agent_deleted"],
    ["failed", "record_damaged"],
    ["equal", undefined],
  ]);
});

/** The next process on a database, once it has resumed what the last one left. */
async function restarted(db: Db, log: Log = silentLog): Promise<App> {
  const app = createApp({
    db,
    log,
    seal: createSeal(crypto.getRandomValues(new Uint8Array(32))),
    environment: {},
    workers: 0,
    egress: { allow: [], loopback: true },
  });
  await app.recover();
  await app.performer.idle();
  return app;
}

const several = async (client: Client, agent: string, count: number): Promise<string[]> => {
  const runs: string[] = [];
  for (let i = 0; i < count; i++) runs.push(await weatherRun(client, agent));
  return runs;
};

const all = <T>({ sqlite }: Db, sql: string): T[] => sqlite.query<T, []>(sql).all();

test("a stopped server continues with the remaining cases", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, await several(client, agent, 5));
  await client.post(`/v1/suites/${suite}/runs`, {});
  await server.stop();
  const pending = "SELECT position FROM suite_run_cases WHERE status = 'pending'";
  expect(all(server.db, pending).length).toBeGreaterThan(0);
  const again = await restarted(server.db);
  expect(all(server.db, "SELECT status FROM suite_runs")).toEqual([{ status: "passed" }]);
  expect(all(server.db, pending)).toEqual([]);
  await again.stop();
});

test.each([
  ["verified", null],
  ["that goes on live", { max_total_tokens: 100_000, max_runs: 2 }],
])("a process that dies behind any write leaves a suite %s that comes to the same end", async (_, live) => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, await several(client, agent, 3));
  await client.patch(`/v1/agents/${agent}`, { instructions: "Sing it." });
  const copies: Buffer[] = [];
  const write = new Proxy(server.db.write, {
    apply: async (target, self, args) => {
      const result = await Reflect.apply(target, self, args);
      copies.push(server.db.sqlite.serialize());
      return result;
    },
  });
  Object.assign(server.db, { write });
  await runSuite(client, suite, { live });
  const told = (db: Db) => ({
    runs: all(db, "SELECT status FROM suite_runs"),
    cases: all<{ status: string; result: string }>(db, "SELECT status, result FROM suite_run_cases").map(
      ({ status, result }) => {
        const { live: forked, ...comparison } = JSON.parse(result);
        return { status, ...comparison, live: forked && { ...forked, run_id: forked.run_id !== null } };
      },
    ),
    forks: all(db, "SELECT status FROM runs WHERE origin = 'fork'"),
  });
  const end = told(server.db);
  expect([end.runs, end.forks.length]).toEqual([[{ status: "diverged" }], live ? 2 : 0]);
  expect(copies.length).toBeGreaterThan(4);
  using folder = temporaryFolder();
  for (const [index, copy] of copies.entries()) {
    const path = folder.file(`${index}.db`);
    await Bun.write(path, copy);
    const db = openDatabase(path);
    const again = await restarted(db);
    if (all(db, "SELECT id FROM suite_runs").length > 0) expect({ index, ...told(db) }).toEqual({ index, ...end });
    await again.stop();
    db.close();
  }
});

test("a suite can have five hundred runs, and other requests run meanwhile", async () => {
  await using server = testApp();
  const client = await server.client();
  await server.projects.update(client.scope.project_id, {
    limits: { run_creations_per_minute: 0, reads_per_minute: 0 },
  });
  const { agent, run } = await echoRun(client);
  const made = Array.from({ length: 499 }, () =>
    client.post("/v1/runs?wait=60", { agent_id: agent, input: "Hello", on_concurrency_limit: "queue" }),
  );
  const suite = await suiteOf(client, [run, ...(await Promise.all(made)).map(({ body }) => body.id)]);
  expect(codesOf(await client.patch(`/v1/suites/${suite}`, { run_ids: Array(501).fill(run) }))).toEqual([
    "run_ids invalid_value",
  ]);
  const { body } = await client.post(`/v1/suites/${suite}/runs`, {});
  const path = `/v1/suites/${suite}/runs/${body.id}`;
  const seen = new Set<number>();
  for (let status = "in_progress"; status === "in_progress"; ) {
    const { counts, ...now } = (await client.get(path)).body;
    seen.add(counts.pending);
    status = now.status;
    await new Promise((next) => setImmediate(next)); // As a request over a socket would.
  }
  expect(seen.size).toBeGreaterThan(20);
  expect((await client.get(path)).body).toMatchObject({ status: "passed", counts: { total: 500, equal: 500 } });
});

test("concurrent suite runs do not disturb each other", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const [same, other] = [await weatherRun(client, agent), await echoRun(client)];
  const suites = [
    await suiteOf(client, [same], { name: "a" }),
    await suiteOf(client, [other.run, same], { name: "b" }),
  ];
  await client.patch(`/v1/agents/${agent}`, { instructions: "Sing it." });
  const done = await Promise.all([...suites, ...suites].map((suite) => runSuite(client, suite, { live: {} })));
  expect(done.map(({ status, counts }) => [status, counts.equal, counts.diverged])).toEqual([
    ...[0, 1, 0, 1].map((equal) => ["diverged", equal, 1]),
  ]);
  const forks = done.flatMap(({ cases }) =>
    cases.flatMap(({ live }: { live: { run_id: string } | null }) => live ?? []),
  );
  expect(new Set(forks.map(({ run_id }) => run_id)).size).toBe(4);
});

test("a repeated request with the same key finds its suite run, even if the process died before the response", async () => {
  await using server = testApp();
  const client = await server.client();
  const suite = await suiteOf(client, [(await echoRun(client)).run]);
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "ci-1" };
  const send = (body: object) => server.send("POST", `/v1/suites/${suite}/runs?wait=60`, body, headers);
  const first = await send({});
  const again = await send({});
  expect([again.status, again.body.id, again.body.status]).toEqual([201, first.body.id, "passed"]);
  expect([again.headers.get("idempotent-replayed"), again.headers.get("location")]).toEqual([
    "true",
    `/v1/suites/${suite}/runs/${first.body.id}`,
  ]);
  expect((await send({ live: {} })).body.error.code).toBe("idempotency_key_reused");
  expect((await client.get(`/v1/suites/${suite}/runs`)).body.data).toHaveLength(1);
  // In the same write as the suite run, so that neither exists without the other.
  const { created } = all<{ created: number }>(
    server.db,
    "SELECT count(*) AS created FROM idempotency_keys k JOIN suite_runs s ON s.id = k.run_id WHERE k.seq IS NULL",
  )[0]!;
  expect(created).toBe(1);
});

test("an unreadable agent fails only its own case", async () => {
  const entries: string[] = [];
  const log: Log = { ...silentLog, error: (message) => void entries.push(message) };
  await using server = testApp({ log });
  const client = await server.client();
  const [broken, fine] = [await echoRun(client), await echoRun(client)];
  const suite = await suiteOf(client, [broken.run, fine.run]);
  server.db.sqlite.query("UPDATE agents SET definition = '{' WHERE id = ?").run(broken.agent);
  const { status, cases } = await runSuite(client, suite);
  expect([status, cases[0].error.code, cases[1].status]).toEqual(["failed", "internal_error", "equal"]);
  expect(entries).toEqual(["a suite run met a bug"]);
});

test("a suite run that cannot continue ends, and is not in progress for ever", async () => {
  await using server = testApp();
  const client = await server.client();
  const suite = await suiteOf(client, [(await echoRun(client)).run, (await echoRun(client)).run]);
  await client.post(`/v1/suites/${suite}/runs`, {});
  await server.stop();
  server.db.sqlite.run("UPDATE suite_run_cases SET result = '{' WHERE position = 2");
  const entries: string[] = [];
  const again = await restarted(server.db, { ...silentLog, error: (message) => void entries.push(message) });
  expect(all(server.db, "SELECT status FROM suite_runs")).toEqual([{ status: "failed" }]);
  expect(entries).toEqual(["a suite run met a bug"]);
  await again.stop();
});

test("a suite run of an archived project is cancelled, even if the server was down then", async () => {
  await using server = testApp();
  await server.recover();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, await several(client, agent, 5));
  await client.patch(`/v1/agents/${agent}`, { instructions: "Sing it." });
  const actor = { type: "cli", id: "test", ip: null, request_id: null } as const;
  for (let i = 0; i < 2; i++) await client.post(`/v1/suites/${suite}/runs`, { live: {} });
  await server.projects.archive(client.scope.project_id, actor);
  await server.performer.idle();
  await server.projects.unarchive(client.scope.project_id, actor);
  await client.post(`/v1/suites/${suite}/runs`, { live: {} });
  await server.stop();
  await server.projects.archive(client.scope.project_id, actor);
  const again = await restarted(server.db);
  expect(all(server.db, "SELECT DISTINCT status FROM suite_runs")).toEqual([{ status: "cancelled" }]);
  await again.stop();
});

test("a cancelled suite run stops where it is", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, await several(client, agent, 5));
  const { body } = await client.post(`/v1/suites/${suite}/runs`, {});
  const cancelled = await client.post(`/v1/suites/${suite}/runs/${body.id}/cancel`);
  expect([cancelled.status, cancelled.body.status]).toEqual([200, "cancelled"]);
  expect(cancelled.body.counts.pending).toBeGreaterThan(0);
  expect((await client.post(`/v1/suites/${suite}/runs/${body.id}/cancel`, {})).body).toMatchObject({
    status: "cancelled",
    counts: cancelled.body.counts,
  });
});

test("at most ten suite runs are in progress", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent, run } = await echoRun(client);
  const suite = await suiteOf(client, [run]);
  // Its case diverges and continues live, with a model that outlasts this test.
  await client.patch(`/v1/agents/${agent}`, {
    model: "test/script",
    model_settings: { script: [{ delay_ms: 600_000 }] },
  });
  const all = await Promise.all(
    Array.from({ length: 11 }, () => client.post(`/v1/suites/${suite}/runs`, { live: {} })),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 429]);
});

test("a suite keeps its last fifty runs", async () => {
  await using server = testApp();
  const client = await server.client();
  await server.projects.update(client.scope.project_id, { limits: { run_creations_per_minute: 0 } });
  const suite = await suiteOf(client, [(await echoRun(client)).run]);
  for (let i = 0; i < 55; i++) await runSuite(client, suite);
  const { n } = server.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM suite_runs").get()!;
  expect(n).toBeLessThanOrEqual(51);
  expect(n).toBeGreaterThanOrEqual(50);
});

import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import {
  codesOf,
  echoRun,
  runSuite,
  suiteOf,
  waitUntilCompleted,
  weatherAgent,
  weatherRun,
} from "../../testing/suites.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { turnsDuring } from "../../testing/turns.ts";

test("a suite pins runs in their order, and shows their outputs", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run, agent } = await echoRun(client);
  const other = await echoRun(client);
  const body = { name: "Greetings", run_ids: [other.run, run], description: "Both.", metadata: { team: "x" } };
  const suite = (await client.post("/v1/suites", body)).body;
  expect(suite).toMatchObject({ object: "suite", name: "Greetings", cases_count: 2, metadata: { team: "x" } });
  expect(suite.cases).toEqual([
    { run_id: other.run, position: 1, agent_id: other.agent, status: "completed", input: "Hello", output: "Hello" },
    { run_id: run, position: 2, agent_id: agent, status: "completed", input: "Hello", output: "Hello" },
  ]);
  expect((await client.get("/v1/suites?name=Greetings")).body.data).toMatchObject([{ id: suite.id, cases_count: 2 }]);
  const changed = await client.patch(`/v1/suites/${suite.id}`, { run_ids: [run], description: null });
  expect(changed.body).toMatchObject({ name: "Greetings", description: null, cases_count: 1 });
  expect((await client.get(`/v1/suites/${suite.id}`)).body.cases).toMatchObject([{ run_id: run, position: 1 }]);
});

test("runs are added and removed one by one, despite concurrent changes", async () => {
  await using server = testApp();
  const client = await server.client();
  const [a, b, c] = [(await echoRun(client)).run, (await echoRun(client)).run, (await echoRun(client)).run];
  const suite = await suiteOf(client, [a]);
  const change = (body: object) => client.patch(`/v1/suites/${suite}`, body);
  await Promise.all([change({ add_run_ids: [b] }), change({ add_run_ids: [c, a] })]);
  const { cases } = (await client.get(`/v1/suites/${suite}`)).body;
  expect(cases.map(({ run_id }: { run_id: string }) => run_id).sort()).toEqual([a, b, c]);
  const changed = (await change({ remove_run_ids: [a, newId("run")] })).body;
  expect(changed.cases).toMatchObject([{ position: 1 }, { position: 2 }]);
  expect(changed.cases_count).toBe(2);
  expect((await change({ remove_run_ids: [b, c], add_run_ids: [a] })).body.cases).toMatchObject([{ run_id: a }]);
  expect(codesOf(await change({ remove_run_ids: [a] }))).toEqual(["remove_run_ids invalid_value"]);
  expect(codesOf(await change({ add_run_ids: [b, newId("run")] }))).toEqual(["add_run_ids[1] invalid_value"]);
  expect(codesOf(await change({ run_ids: [a], add_run_ids: [b] }))).toEqual(["add_run_ids invalid_value"]);
  expect((await client.get(`/v1/suites/${suite}`)).body.cases).toMatchObject([{ run_id: a }]);
});

test("the list of suites shows the last result of each", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await echoRun(client);
  const [ran, other] = [await suiteOf(client, [run], { name: "ran" }), await suiteOf(client, [run], { name: "other" })];
  await runSuite(client, ran);
  const { id } = await runSuite(client, ran);
  const { data } = (await client.get("/v1/suites")).body;
  const last = { object: "suite_run", id, status: "passed", counts: { total: 1, equal: 1 } };
  expect(data).toMatchObject([
    { id: other, last_suite_run: null },
    { id: ran, last_suite_run: last },
  ]);
});

test("all faults of a suite are reported", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const waiting = (await client.post("/v1/runs?wait=60", { agent_id: agent, input: "Go." })).body.id;
  const [{ run }, forgotten] = [await echoRun(client), (await echoRun(client)).run];
  await client.delete(`/v1/traces/${forgotten}`);
  const refused = (body: object) => client.post("/v1/suites", { name: "s", run_ids: [run], ...body });
  const bad = await refused({ run_ids: [run, waiting, newId("run"), forgotten] });
  expect(codesOf(bad)).toEqual(["run_ids[1] invalid_value", "run_ids[2] invalid_value", "run_ids[3] invalid_value"]);
  expect(bad.body.error.errors.map(({ message }: Record<string, string>) => message)).toEqual([
    "run_ids[1]: The run has not ended.",
    "run_ids[2]: There is no such run.",
    "run_ids[3]: The trace of the run was deleted.",
  ]);
  expect(codesOf(await refused({ run_ids: [] }))).toEqual(["run_ids invalid_value"]);
  expect(codesOf(await refused({ run_ids: [run, run] }))).toEqual(["run_ids invalid_value"]);
  expect(codesOf(await refused({ name: " " }))).toEqual(["name invalid_value"]);
  expect(codesOf(await refused({ runs: [] }))).toEqual(["runs unknown_parameter"]);
  await suiteOf(client, [run], { name: "s" });
  expect((await refused({})).body.error.code).toBe("name_taken");
  const other = await suiteOf(client, [run], { name: "other" });
  expect((await client.patch(`/v1/suites/${other}`, { name: "s" })).body.error.code).toBe("name_taken");
  expect((await client.patch(`/v1/suites/${other}`, { name: "other" })).status).toBe(200);
});

test("forks and replays can be pinned like other runs", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await echoRun(client);
  const fork = (await client.post(`/v1/runs/${run}/fork`, { step_index: -1, edits: { input: "Bye" } })).body.id;
  const replay = (await client.post(`/v1/runs/${run}/replay`, {})).body.id;
  await waitUntilCompleted(client, fork);
  const { status, cases } = await runSuite(client, await suiteOf(client, [fork, replay]));
  expect([status, ...cases.map((each: { status: string }) => each.status)]).toEqual(["passed", "equal", "equal"]);
});

test("a pinned run and its trace cannot be deleted until no suite pins it", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await echoRun(client);
  const [a, b] = [await suiteOf(client, [run], { name: "a" }), await suiteOf(client, [run], { name: "b" })];
  for (const path of [`/v1/runs/${run}`, `/v1/traces/${run}`]) {
    const { status, body } = await client.delete(path);
    expect([status, body.error.code, body.error.details]).toEqual([409, "run_pinned", { suite_ids: [a, b] }]);
  }
  expect((await client.delete(`/v1/suites/${a}`)).body).toMatchObject({ id: a, object: "suite", deleted: true });
  expect((await client.delete(`/v1/runs/${run}`)).body.error.details).toEqual({ suite_ids: [b] });
  const { run: other } = await echoRun(client);
  await client.patch(`/v1/suites/${b}`, { run_ids: [other] });
  expect((await client.delete(`/v1/traces/${run}`)).status).toBe(200);
  expect((await client.delete(`/v1/runs/${run}`)).status).toBe(200);
});

test("the subagent runs and the parent of a pinned run are kept too", async () => {
  const clock = { at: Date.parse("2026-11-21T09:00:00Z") };
  await using server = testApp({ now: () => clock.at });
  const client = await server.client();
  const { agent: helper } = await echoRun(client);
  const tool = (await client.post("/v1/tools", { name: "ask", type: "agent", agent_id: helper })).body.id;
  const script = [{ tool_calls: [{ name: "ask", arguments: { input: "Why?" } }] }, { text: "So." }];
  const top = { instructions: "Ask.", model: "test/script", model_settings: { script }, tools: [tool] };
  const { run: parent } = await echoRun(client, top);
  const child = (await client.get(`/v1/runs/${parent}`)).body.tool_calls[0].subagent_run_id;
  const suite = await suiteOf(client, [parent]);
  const paths = [`/v1/runs/${child}`, `/v1/traces/${child}`, `/v1/runs/${parent}`, `/v1/traces/${parent}`];
  const refused = async () => {
    for (const path of paths) {
      const { status, body } = await client.delete(path);
      expect([path, status, body.error.code]).toEqual([path, 409, "run_pinned"]);
    }
  };
  await refused();
  clock.at += 10 * 24 * 3_600_000;
  await server.projects.update(client.scope.project_id, { retention: { test: { runs_days: 1 } } });
  expect(await server.sweep()).toMatchObject({ runs: 1 });
  for (const id of [parent, child]) expect((await client.get(`/v1/traces/${id}`)).status).toBe(200);
  await client.patch(`/v1/suites/${suite}`, { run_ids: [child] });
  await refused();
  await client.delete(`/v1/suites/${suite}`);
  expect(await server.sweep()).toMatchObject({ runs: 2 });
});

test("retention of runs and of traces leaves pinned runs alone", async () => {
  const clock = { at: Date.parse("2026-11-21T09:00:00Z") };
  await using server = testApp({ now: () => clock.at });
  const client = await server.client();
  const [pinned, free] = [(await echoRun(client)).run, (await echoRun(client)).run];
  await suiteOf(client, [pinned]);
  clock.at += 10 * 24 * 3_600_000;
  await server.projects.update(client.scope.project_id, { retention: { test: { traces_days: 1 } } });
  expect(await server.sweep()).toMatchObject({ runs: 0, traces: 1 });
  expect((await client.get(`/v1/traces/${pinned}`)).status).toBe(200);
  await server.projects.update(client.scope.project_id, { retention: { test: { runs_days: 1 } } });
  expect(await server.sweep()).toMatchObject({ runs: 1, traces: 0 });
  expect((await client.get(`/v1/runs/${free}`)).status).toBe(404);
  expect((await client.get(`/v1/runs/${pinned}`)).status).toBe(200);
});

test("a project is erased with its suites", async () => {
  await using server = testApp();
  const client = await server.client();
  const suite = await suiteOf(client, [(await echoRun(client)).run]);
  await runSuite(client, suite);
  const actor = { type: "cli", id: "test", ip: null, request_id: null } as const;
  await server.projects.archive(client.scope.project_id, actor);
  await server.projects.remove(client.scope.project_id, actor);
  await server.windDown();
  for (const table of ["suites", "suite_cases", "suite_runs", "suite_run_cases", "runs"])
    expect([table, server.db.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get()]).toEqual([table, { n: 0 }]);
});

test("a suite is deleted with its results, even during a suite run", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, [await weatherRun(client, agent), await weatherRun(client, agent)]);
  for (let i = 0; i < 3; i++) await runSuite(client, suite);
  await client.post(`/v1/suites/${suite}/runs`, {});
  expect((await client.delete(`/v1/suites/${suite}`)).status).toBe(200);
  await server.performer.idle();
  for (const table of ["suites", "suite_cases", "suite_runs", "suite_run_cases"])
    expect([table, server.db.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get()]).toEqual([table, { n: 0 }]);
});

test("a key for some agents sees and runs only suites of their runs", async () => {
  await using server = testApp();
  const client = await server.client();
  const [mine, other] = [await echoRun(client), await echoRun(client)];
  const own = await suiteOf(client, [mine.run], { name: "own" });
  const mixed = await suiteOf(client, [mine.run, other.run], { name: "mixed" });
  const bound = await server.client({ agent_ids: [mine.agent] });
  expect((await bound.get("/v1/suites")).body.data.map(({ id }: { id: string }) => id)).toEqual([own]);
  expect((await bound.get(`/v1/suites/${mixed}`)).status).toBe(404);
  expect((await bound.post(`/v1/suites/${mixed}/runs`, {})).status).toBe(404);
  expect((await bound.patch(`/v1/suites/${mixed}`, { name: "taken over" })).status).toBe(404);
  const done = await runSuite(client, mixed);
  await client.patch(`/v1/suites/${mixed}`, { run_ids: [mine.run] });
  expect((await bound.get(`/v1/suites/${mixed}/runs`)).body.data).toEqual([]);
  expect((await bound.get("/v1/suites?name=mixed")).body.data).toMatchObject([{ id: mixed, last_suite_run: null }]);
  expect((await bound.get(`/v1/suites/${mixed}/runs/${done.id}`)).status).toBe(404);
  expect((await runSuite(bound, own)).status).toBe("passed");
  expect((await bound.post("/v1/suites", { name: "x", run_ids: [other.run] })).status).toBe(400);
});

test("a run of one suite is not found under another one", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await echoRun(client);
  const [a, b] = [await suiteOf(client, [run], { name: "a" }), await suiteOf(client, [run], { name: "b" })];
  const { id } = await runSuite(client, a);
  expect((await client.get(`/v1/suites/${b}/runs/${id}`)).status).toBe(404);
  expect((await client.post(`/v1/suites/${b}/runs/${id}/cancel`)).status).toBe(404);
});

test("changes of a suite are in the audit log", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await echoRun(client);
  const id = await suiteOf(client, [run]);
  await client.patch(`/v1/suites/${id}`, { description: "A secret plan." });
  await client.delete(`/v1/suites/${id}`);
  const { data } = (await client.get(`/v1/audit_log?target_id=${id}&order=asc`)).body;
  expect(data.map(({ action, details }: { action: string; details: object }) => [action, details])).toEqual([
    ["suite.created", { name: "weather", cases: 1 }],
    ["suite.updated", { name: "weather", changes: ["description"] }],
    ["suite.deleted", { name: "weather", cases: 1 }],
  ]);
});

test("other requests run while a suite with many long inputs is read", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id: first } = await askedAtLength(client);
  const { sqlite } = server.db;
  const columnsIn = (table: string) =>
    sqlite.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)").all(table);
  const copies = Array.from({ length: 499 }, (_, n) => `${first.slice(0, -3)}${String(n).padStart(3, "0")}`);
  const run_ids = [...copies, first].filter((id, at, all) => all.indexOf(id) === at);
  await server.db.write(() => {
    for (const [table, key] of [
      ["runs", "id"],
      ["run_events", "run_id"],
    ] as const) {
      const names = columnsIn(table).map(({ name }) => name);
      const values = names.map((name) => (name === key ? "copy" : name));
      sqlite
        .query(
          `INSERT INTO ${table} (${names}) SELECT ${values} FROM ${table}
           CROSS JOIN (SELECT value AS copy FROM json_each(?)) WHERE ${key} = ? AND copy <> ?`,
        )
        .run(JSON.stringify(copies), first, first);
    }
  });
  const suite = await suiteOf(client, run_ids);
  const { turns, result } = await turnsDuring(() => client.get(`/v1/suites/${suite}`));
  const { cases } = result.body;
  expect(cases.length).toBe(run_ids.length);
  expect(cases[0].input).toStartWith("word word");
  expect(turns).toBeGreaterThan(3);
});

async function askedAtLength(client: Client): Promise<{ id: string }> {
  const script = [{ text: "Done." }];
  const agent = { name: "a", instructions: "Say.", model: "test/script", model_settings: { script } };
  const agent_id = (await client.post("/v1/agents", agent)).body.id;
  const { status, body } = await client.post("/v1/runs?wait=60", { agent_id, input: "word ".repeat(50_000) });
  expect([status, body.status]).toEqual([201, "completed"]);
  return body;
}

import { expect, jest, test } from "bun:test";
import { answer, completed, created, started } from "../../domain/__fixtures__/events.ts";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { silentLog } from "../../lib/log.ts";
import { createProjectStore } from "../../resources/projects/store.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { deleteUnusedBlob } from "../../storage/journal/blob-refcounts.ts";
import { Journal } from "../../storage/journal/journal.ts";
import { textsOf } from "../../testing/run-fixture.ts";
import { testApp } from "../../testing/test-app.ts";
import { createRunProjection } from "../run-projection.ts";
import { createRunStore } from "../store.ts";
import { RunSubscriptions } from "../stream/run-subscriptions.ts";
import { createRunStream } from "../stream/stream.ts";
import { selectBytes } from "./deletion-batch.ts";
import { createRetention, type DeleteExpired, selectEnded } from "./retention.ts";

const day = 24 * 3_600_000;
const usage = { ...answer([]).usage, total_tokens: 14, model_calls: 1, tool_calls: 0, cost_usd: 0, estimated: false };

/** A database with runs of any age, written by the journal, and a retention that sweeps it. */
async function fixture(forgetters: DeleteExpired[] = []) {
  const db = openDatabase(":memory:");
  let clock = 1_000_000 * day;
  const now = () => clock;
  const watches = new RunSubscriptions(now);
  const journal = new Journal({
    db,
    project: createRunProjection(db.sqlite),
    wake: (runId, entries) => watches.committed(runId, entries),
    now,
  });
  const projects = createProjectStore({ db, audit: createAudit({ db, now }), now });
  const runs = createRunStore({ db, journal, audit: createAudit({ db }) });
  const retentionOf = (of: typeof db) =>
    createRetention({ db: of, projects, runs, forgetters, log: silentLog, now, pause_ms: 0 });
  const retention = retentionOf(db);
  const { id: project_id } = await projects.create("shop");

  /** Creates runs that began `days` days ago; returns their ids. Each has a blob of its own and one shared blob. */
  async function make(
    count: number,
    days: number,
    { over = true, scope = live(project_id), bytes = 6000 } = {},
  ): Promise<string[]> {
    const today = clock;
    clock -= days * day;
    const ids = await Promise.all(
      Array.from({ length: count }, async () => {
        const run_id = newId("run");
        const own = answer([{ type: "text", text: run_id.repeat(bytes / run_id.length) }]);
        await journal.append(run_id, [
          created({ ...scope, run_id, input: "shared ".repeat(1000) }),
          started(0),
          ...(over
            ? [
                completed(0, { answer: own }),
                { type: "run.completed" as const, output: "Hi.", output_json: null, usage },
              ]
            : []),
        ]);
        return run_id;
      }),
    );
    clock = today;
    return ids;
  }

  const count = (from: string): number =>
    db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${from}`).get()!.n;
  const left = (ids: string[]) => ids.filter((id) => journal.head(id) !== null).length;

  /** Sweeps, and returns the number of these rows after each write that changed it. */
  async function countsOfSweep(from: string): Promise<number[]> {
    const counts: number[] = [];
    const clear = () => {
      counts.push(count(from));
      return runs.clear();
    };
    const options = { db, projects, runs: { ...runs, clear }, forgetters, log: silentLog, now, pause_ms: 0 };
    await createRetention(options).sweep();
    return [...new Set(counts)];
  }
  return {
    db,
    now,
    journal,
    watches,
    runs,
    projects,
    project_id,
    retention,
    retentionOf,
    make,
    count,
    left,
    countsOfSweep,
  };
}

const live = (project_id: string): Scope => ({ project_id, environment: "live" });

test("nothing is deleted by default", async () => {
  const { retention, make, left } = await fixture();
  const old = await make(3, 5000);
  expect(await retention.sweep()).toEqual({ runs: 0, traces: 0 });
  expect(left(old)).toBe(3);
});

test("thousands of old runs are deleted in small writes; young, running and other projects' runs stay", async () => {
  const { retentionOf, make, left, count, projects, project_id, db } = await fixture();
  const other = await projects.create("other");
  await projects.keep(project_id, "live", { runs_days: 30 });
  const old = await make(5000, 31);
  const stay = [
    ...(await make(3, 29)),
    ...(await make(3, 31, { over: false })),
    ...(await make(3, 31, { scope: { project_id, environment: "test" } })),
    ...(await make(3, 31, { scope: live(other.id) })),
  ];
  const commits = db.write.commits();
  let most = 0;
  const counted: typeof db.write = Object.assign(
    <T>(job: () => T, ...more: [owner?: string, touches?: "runs"]) =>
      db.write(
        () => {
          const before = count("runs");
          const done = job();
          most = Math.max(most, before - count("runs"));
          return done;
        },
        ...more,
      ),
    db.write,
  );
  expect(await retentionOf({ ...db, write: counted }).sweep()).toEqual({ runs: 5000, traces: 0 });
  expect([left(old), left(stay)]).toEqual([0, stay.length]);
  expect(most).toBeLessThanOrEqual(50);
  expect(db.write.commits() - commits).toBeGreaterThanOrEqual(100);
  // Journals and blobs were deleted; shared blobs remain.
  expect(count("run_events WHERE run_id NOT IN (SELECT id FROM runs)")).toBe(0);
  expect(count("blobs WHERE hash NOT IN (SELECT hash FROM run_blobs)")).toBe(0);
  expect(count("blobs")).toBe(9 + 3);
}, 60_000);

test("a trace is deleted before its run: input and result stay", async () => {
  const { retention, make, count, runs, projects, project_id } = await fixture();
  await projects.keep(project_id, "live", { runs_days: 30, traces_days: 7 });
  const [old, , young] = [await make(1, 31), await make(2, 8), await make(1, 6)];
  const [kept] = await make(1, 8);
  expect(await retention.sweep()).toEqual({ runs: 1, traces: 3 });
  expect(count(`runs WHERE id = '${old[0]}'`)).toBe(0);
  expect(count(`run_events WHERE run_id <> '${young[0]}'`)).toBe(0);
  expect(runs.get(live(project_id), kept!)).toMatchObject({
    status: "completed",
    input: "shared ".repeat(1000),
    output: "Hi.",
    messages: [],
    trace_id: null,
  });
  expect(await retention.sweep()).toEqual({ runs: 0, traces: 0 });
  await projects.keep(project_id, "live", { runs_days: 7, traces_days: null });
  expect(await retention.sweep()).toEqual({ runs: 3, traces: 0 });
});

test("a stopped sweep leaves the rest to the next one", async () => {
  const first = await fixture();
  const { db, runs, projects, project_id, now, make, left } = first;
  await projects.keep(project_id, "live", { runs_days: 1 });
  const old = await make(200, 2);
  const sweeping = first.retention.sweep();
  while (left(old) === 200) await db.write(() => {});
  await first.retention.stop();
  const { runs: gone } = await sweeping;
  expect([gone > 0, gone < 200, left(old)]).toEqual([true, true, 200 - gone]);
  const next = createRetention({ db, projects, runs, forgetters: [], log: silentLog, now, pause_ms: 0 });
  expect(await next.sweep()).toEqual({ runs: 200 - gone, traces: 0 });
});

test("an unreadable journal does not prevent the deletion of others", async () => {
  const { retention, make, count, db, projects, project_id } = await fixture();
  await projects.keep(project_id, "live", { traces_days: 1 });
  const [broken] = await make(1, 3);
  await make(100, 2);
  db.sqlite.run("UPDATE run_events SET data = '{' WHERE run_id = ?", [broken!]);
  expect(await retention.sweep()).toEqual({ runs: 0, traces: 100 });
  expect(count("runs WHERE summary IS NULL")).toBe(1);
});

test("runs with many events are deleted a few at a time", async () => {
  const { make, countsOfSweep, db, projects, project_id } = await fixture();
  await projects.keep(project_id, "live", { runs_days: 1 });
  await make(30, 2);
  db.sqlite.run("UPDATE runs SET seq = 100");
  expect(await countsOfSweep("runs")).toEqual([20, 10, 0]);
});

test.each([
  ["runs_days", "runs"],
  ["traces_days", "runs WHERE summary IS NULL"],
])("large runs are deleted a few at a time by %s, and a huge one alone", async (days, rest) => {
  const { make, countsOfSweep, projects, project_id } = await fixture();
  await projects.keep(project_id, "live", { [days]: 1 });
  await make(6, 4, { bytes: 400_000 });
  await make(1, 3, { bytes: 5_000_000 });
  await make(3, 2);
  expect(await countsOfSweep(rest)).toEqual([8, 6, 4, 3, 0]);
});

test("a stream ends when its run is deleted", async () => {
  const { retention, make, journal, watches, projects, project_id } = await fixture();
  await projects.keep(project_id, "live", { runs_days: 1 });
  const [id] = await make(1, 2);
  const tail = createRunStream({ journal, watches, publicUrl: () => "https://localhost" });
  const texts = textsOf((wake) => tail(id!, { seq: 0, anchor: null, offset: 0 }, wake));
  expect((await texts.next()).value).toStartWith("retry:");
  expect(await retention.sweep()).toEqual({ runs: 1, traces: 0 });
  expect((await texts.next()).done).toBe(true);
  expect(watches.size()).toBe(0);
});

test("other expired rows are deleted too, with a limit per write", async () => {
  const asked: number[] = [];
  let rows = 1200;
  const forget = (limit: number) => {
    asked.push(limit);
    const gone = Math.min(limit, rows);
    rows -= gone;
    return gone;
  };
  const { retention } = await fixture([forget]);
  await retention.sweep();
  expect(asked).toEqual([500, 500, 500, 500]);
  expect(rows).toBe(0);
});

test("expired runs are found by an index without sorting, and blob uses without scanning every run", async () => {
  const { db } = await fixture();
  const plan = (sql: string) =>
    db.sqlite
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail);
  expect(plan(selectEnded)).toEqual([
    "SEARCH runs USING INDEX runs_by_end (project_id=? AND environment=? AND <expr>=? AND ended_at_ms>? AND ended_at_ms<?)",
    "CORRELATED SCALAR SUBQUERY 1",
    "SEARCH p USING INDEX sqlite_autoindex_runs_1 (id=?)",
    "CORRELATED SCALAR SUBQUERY 5",
    "SEARCH s USING COVERING INDEX suite_cases_by_run (project_id=? AND environment=? AND run_id=?)",
    "CORRELATED LIST SUBQUERY 4",
    "MATERIALIZE above",
    "SETUP",
    "SCAN CONSTANT ROW",
    "RECURSIVE STEP",
    "SCAN above",
    "SEARCH r USING INDEX sqlite_autoindex_runs_1 (id=?)",
    "SCAN above",
  ]);
  expect(plan(selectBytes).filter((step) => step.startsWith("S") && !step.includes("SCALAR"))).toEqual([
    "SCAN CONSTANT ROW",
    "SEARCH run_events USING INDEX sqlite_autoindex_run_events_1 (run_id=?)",
    "SEARCH run_blobs USING PRIMARY KEY (run_id=?)",
    "SEARCH blobs USING INDEX sqlite_autoindex_blobs_1 (project_id=? AND environment=? AND hash=?)",
  ]);
  expect(plan(deleteUnusedBlob)).toEqual([
    "SEARCH blobs USING INDEX sqlite_autoindex_blobs_1 (project_id=? AND environment=? AND hash=?)",
    "SCALAR SUBQUERY 1",
    "SEARCH run_blobs USING COVERING INDEX run_blobs_by_hash (hash=?)",
    "SEARCH runs USING COVERING INDEX sqlite_autoindex_runs_2 (project_id=? AND environment=? AND id=?)",
  ]);
});

test("retention sweeps by itself: soon after the start, then every five minutes", async () => {
  let sweeps = 0;
  const { db, retention } = await fixture([
    () => {
      sweeps++;
      return 0;
    },
  ]);
  jest.useFakeTimers();
  try {
    const pass = async (ms: number) => {
      jest.advanceTimersByTime(ms);
      for (let turn = 0; turn < 20; turn++) {
        db.write.flush();
        await Promise.resolve();
      }
      return sweeps;
    };
    retention.start();
    expect([await pass(9_999), await pass(1), await pass(299_000), await pass(1000), await pass(300_000)]).toEqual([
      0, 1, 1, 2, 3,
    ]);
    await retention.stop();
    expect(await pass(900_000)).toBe(3);
  } finally {
    jest.useRealTimers();
  }
});

test("in the server, runs are deleted by their project's days, and idempotency keys always after a day", async () => {
  let clock = Date.now();
  await using server = testApp({ now: () => clock });
  const client = await server.client({ environment: "test" });
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "one" };
  const { body: run } = await server.send("POST", "/v1/runs?wait=60", { agent_id: agent.id, input: "Hi" }, headers);
  const count = (table: string) =>
    server.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n;
  expect([run.status, count("idempotency_keys")]).toEqual(["completed", 1]);
  clock += 2 * day;
  expect(await server.sweep()).toEqual({ runs: 0, traces: 0 });
  expect(count("idempotency_keys")).toBe(0);
  await server.projects.keep(client.scope.project_id, "test", { traces_days: 1 });
  expect(await server.sweep()).toEqual({ runs: 0, traces: 1 });
  expect((await client.get(`/v1/traces/${run.id}`)).status).toBe(404);
  expect((await client.get(`/v1/runs/${run.id}`)).body).toMatchObject({ output: "Hi", trace_id: null });
  await server.projects.keep(client.scope.project_id, "test", { runs_days: 1 });
  expect(await server.sweep()).toEqual({ runs: 1, traces: 0 });
  expect((await client.get(`/v1/runs/${run.id}`)).status).toBe(404);
});

import { expect, jest, test } from "bun:test";
import { isOver } from "../../domain/run-state.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { runFixture, tool } from "../../testing/run-fixture.ts";
import { createDeadlines } from "./deadlines.ts";

const waits = [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Seen." }];

test("a run that takes too long fails with its partial output", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ text: "word ".repeat(10_000), delta_ms: 2 }], { run: { timeout_ms: 60_000 } });
  await fixture.stream(id, undefined, ({ event }) => event === "token");
  fixture.bringForward(id);
  const run = await fixture.settled(id);
  expect([run.status, run.error!.code, run.expires_at]).toEqual(["failed", "run_timeout", null]);
  expect(run.output).toStartWith("word ");
  expect(fixture.pool.driving()).toBe(0);
});

test("an unanswered required action fails its run, even if the run itself had more time", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")], run: { action_timeout_ms: 20 } });
  const { event } = await fixture.until(id, (entry) => entry.event.type === "run.failed");
  expect(event).toMatchObject({ error: { code: "action_expired" } });
});

test("waiting does not use up the run's own time", async () => {
  let at = Date.UTC(2026, 0, 1);
  using fixture = runFixture({ now: () => at });
  const { id } = await fixture.start(waits, { tools: [tool("look")], run: { timeout_ms: 60_000 } });
  const { required_action } = await fixture.settled(id);
  at += 3_600_000;
  const [call] = required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
  expect(fixture.runs.expiry(id)).toBe(at + 60_000);
  expect((await fixture.settled(id)).status).toBe("completed");
});

test("a partial answer does not extend the time", async () => {
  let at = Date.UTC(2026, 0, 1);
  using fixture = runFixture({ now: () => at });
  const script = [
    {
      tool_calls: [
        { name: "look", arguments: {} },
        { name: "look", arguments: {} },
      ],
    },
  ];
  const { id } = await fixture.start(script, { tools: [tool("look")] });
  const { required_action } = await fixture.settled(id);
  const before = fixture.runs.expiry(id);
  at += 1000;
  const [call] = required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
  expect(fixture.runs.expiry(id)).toBe(before);
});

/** Deadlines over a table with only the columns that they read. */
function deadlinesOf(ends: Record<string, number>, fail: (id: string) => boolean = () => false) {
  const { sqlite } = openDatabase(":memory:");
  sqlite.run("PRAGMA foreign_keys = OFF");
  for (const [id, at] of Object.entries(ends))
    sqlite.run(
      `INSERT INTO runs (id, project_id, environment, agent_id, status, seq, attempt, metadata, created_at_ms,
         status_since_ms, timeout_ms, action_timeout_ms, expires_at_ms)
       VALUES (?, 'p', 'test', 'a', 'in_progress', 1, 1, '{}', 0, 0, 0, 0, ?)`,
      [id, at],
    );
  const expired: string[] = [];
  let asked = 0;
  const expire = async (id: string) => {
    asked++;
    if (fail(id)) throw new Error("full");
    expired.push(id);
    sqlite.run("UPDATE runs SET expires_at_ms = NULL WHERE id = ?", [id]);
  };
  return { deadlines: createDeadlines(sqlite, expire, Date.now, { steady: Date.now }), expired, asked: () => asked };
}

const turn = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

test("a run with a damaged journal fails when its time is up, and is not retried again and again", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")], run: { action_timeout_ms: 60_000 } });
  await fixture.settled(id);
  fixture.db.sqlite.run("UPDATE run_events SET data = '{\"type\":' WHERE run_id = ? AND seq = 2", [id]);
  fixture.db.kept.forget();
  const { seq } = fixture.journal.head(id)!;
  const over = Promise.withResolvers<void>();
  fixture.watches.listen(() => isOver(fixture.journal.head(id)!.status) && over.resolve());
  fixture.bringForward(id);
  await over.promise;
  expect(fixture.journal.read(id, seq)).toMatchObject([
    { event: { type: "run.failed", error: { code: "internal_error" } } },
  ]);
  expect(fixture.runs.expiry(id)).toBeNull();
});

test("a deadline beyond the range of a timer is met on time, not at once", async () => {
  jest.useFakeTimers();
  try {
    const begun = Date.now();
    const days30 = 30 * 24 * 3_600_000;
    const { deadlines, expired } = deadlinesOf({ near: begun + 1000, far: begun + days30 });
    deadlines.load();
    const pass = async (ms: number) => {
      jest.advanceTimersByTime(ms);
      await turn();
    };
    await pass(1001);
    expect(expired).toEqual(["near"]);
    await pass(2 ** 31);
    expect(expired).toEqual(["near"]);
    await pass(days30 - 2 ** 31);
    expect(expired).toEqual(["near", "far"]);
    deadlines.stop();
  } finally {
    jest.useRealTimers();
  }
});

test("runs whose end is refused repeatedly do not delay others", async () => {
  jest.useFakeTimers();
  try {
    const at = Date.now() - 1;
    const bad = Array.from({ length: 100 }, (_, index) => [`bad_${index}`, at] as const);
    const { deadlines, expired } = deadlinesOf({ ...Object.fromEntries(bad), good: at }, (id) => id !== "good");
    deadlines.load();
    for (const ms of [1, 1001]) {
      jest.advanceTimersByTime(ms);
      await turn();
    }
    expect(expired).toEqual(["good"]);
    deadlines.stop();
  } finally {
    jest.useRealTimers();
  }
});

test("an end that storage refuses is retried slowly, and not at all after the stop", async () => {
  jest.useFakeTimers();
  try {
    let full = true;
    const { deadlines, expired, asked } = deadlinesOf({ late: Date.now() - 1 }, () => full);
    deadlines.load();
    jest.advanceTimersByTime(1);
    await turn();
    expect(asked()).toBe(1);
    jest.advanceTimersByTime(999);
    await turn();
    expect(asked()).toBe(1);
    full = false;
    jest.advanceTimersByTime(2);
    await turn();
    expect(expired).toEqual(["late"]);
    deadlines.stop();
    deadlines.load();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

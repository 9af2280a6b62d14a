import { expect, test } from "bun:test";
import { migrations } from "../../../migrations/index.ts";
import { bucketMiddle, bucketOf, bucketsBetween } from "../../domain/histogram-buckets.ts";
import { asNew, eventsOf, openUsageJournal } from "../../testing/usage-journal.ts";
import type { UsageQuery } from "./query.ts";
import { createUsageStore } from "./store.ts";

const noon = Date.parse("2026-11-21T12:00:00Z");
const day: UsageQuery = { from: "2026-11-21", to: "2026-11-21", group_by: "day" };

/** Creates runs of given durations, and reads their report. */
async function openWorld() {
  const { clock, journal, project, db } = await openUsageJournal(noon);
  /** Plays a history; the gaps are those between its last events, in milliseconds. */
  async function play(file: string, gaps_ms: number[], more: { agent_id?: string; model?: string } = {}) {
    const { id, events } = asNew(eventsOf(file), project.id, more);
    const first = events.length - gaps_ms.length;
    await journal.append(id, events.slice(0, first));
    for (const [index, gap] of gaps_ms.entries()) {
      clock.at += gap;
      await journal.append(id, [events[first + index]!]);
    }
  }
  const scope = { project_id: project.id, environment: "test" } as const;
  const store = createUsageStore({ db });
  return {
    clock,
    db,
    play,
    took: (ms: number, more = {}) => play("text-and-reasoning.jsonl", [ms], more),
    report: (query: Partial<UsageQuery> = {}, agent_ids?: string[]) =>
      store.report({ ...scope, ...(agent_ids && { agent_ids }) }, { ...day, ...query }),
    [Symbol.dispose]: () => db.close(),
  };
}

const nameOf = (row: object, group_by: UsageQuery["group_by"]): string =>
  String(new Map(Object.entries(row)).get(group_by === "agent" ? "agent_id" : group_by));

test("durations are resolved to 3 %, short ones exactly", () => {
  for (const ms of [0, 1, 17, 31]) expect([bucketOf(ms), bucketMiddle(bucketOf(ms))]).toEqual([ms, ms]);
  for (let ms = 32; ms < 1e9; ms = Math.ceil(ms * 1.013)) {
    expect(bucketOf(ms)).toBeLessThanOrEqual(ms);
    expect(bucketOf(bucketOf(ms))).toBe(bucketOf(ms));
    expect(Math.abs(bucketMiddle(bucketOf(ms)) - ms) / ms).toBeLessThan(1 / 32);
  }
});

test("a duration above 24 days is counted as 24 days", () => {
  expect(bucketOf(2 ** 31 + 5)).toBe(bucketOf(2 ** 31 - 1));
  expect(bucketOf(Number.MAX_SAFE_INTEGER)).toBe(bucketOf(2 ** 31 - 1));
});

test("half of the runs took at most p50, and 95 of a hundred at most p95", async () => {
  using world = await openWorld();
  for (let n = 1; n <= 20; n++) await world.took(n);
  expect((await world.report()).totals.worked_ms).toEqual({ p50: 10, p95: 19 });
  await world.took(30);
  expect((await world.report()).totals.worked_ms).toEqual({ p50: 11, p95: 20 });
  await world.took(60_000);
  const { p50, p95 } = (await world.report()).data[0]!.worked_ms;
  expect([p50, p95]).toEqual([11, 30]);
});

test("days, agents and models have separate durations, and their total has others", async () => {
  using world = await openWorld();
  for (const ms of [2, 4, 6]) await world.took(ms, { agent_id: "agt_a", model: "test/one" });
  for (const ms of [20, 22]) await world.took(ms, { agent_id: "agt_b", model: "test/two" });
  world.clock.at = noon + 24 * 3_600_000;
  await world.took(30, { agent_id: "agt_b", model: "test/one" });
  const both = { from: "2026-11-21", to: "2026-11-22" };
  const byName = async (group_by: UsageQuery["group_by"]) =>
    (await world.report({ ...both, group_by })).data.map((row) => [nameOf(row, group_by), row.worked_ms] as const);
  expect(await byName("day")).toEqual([
    ["2026-11-21", { p50: 6, p95: 22 }],
    ["2026-11-22", { p50: 30, p95: 30 }],
  ]);
  expect((await byName("agent")).sort()).toEqual([
    ["agt_a", { p50: 4, p95: 6 }],
    ["agt_b", { p50: 22, p95: 30 }],
  ]);
  expect((await byName("model")).sort()).toEqual([
    ["test/one", { p50: 4, p95: 30 }],
    ["test/two", { p50: 20, p95: 22 }],
  ]);
  expect((await world.report(both)).totals.worked_ms).toEqual({ p50: 6, p95: 30 });
  expect((await world.report(both, ["agt_a"])).totals.worked_ms).toEqual({ p50: 4, p95: 6 });
  expect((await world.report({ from: "2026-11-22", to: "2026-11-22" })).totals.worked_ms).toEqual({ p50: 30, p95: 30 });
});

test("waiting for people does not count, failed runs have durations, and cancelled ones have none", async () => {
  using world = await openWorld();
  await world.play("cancelled.jsonl", [500]);
  expect((await world.report()).data).toMatchObject([{ runs: { cancelled: 1 }, worked_ms: { p50: null, p95: null } }]);
  const waits = eventsOf("approvals.jsonl");
  const last = waits.findLastIndex(({ type }) => type === "run.requires_action");
  const gaps = waits.slice(last).map(({ type }) => (type === "run.resumed" ? 3_600_000 : 1));
  await world.play("approvals.jsonl", gaps);
  const { p50 } = (await world.report()).totals.worked_ms;
  expect(p50).toBeGreaterThan(0);
  expect(p50).toBeLessThan(100);
  await world.play("model-error.jsonl", [700_000]);
  expect((await world.report()).totals.worked_ms.p95).toBeGreaterThan(680_000);
});

test("the migration counts runs that ended before there were durations, with the same result", async () => {
  using world = await openWorld();
  for (const ms of [0, 7, 31, 32, 33, 999, 1000, 12_345, 86_400_000]) await world.took(ms);
  await world.play("cancelled.jsonl", [500]);
  const all = () =>
    world.db.sqlite
      .query<{ day: string; runs_by_ms: string }, []>("SELECT * FROM usage_durations ORDER BY day")
      .all()
      .map((row) => ({ ...row, runs_by_ms: JSON.parse(row.runs_by_ms) }));
  const counted = all();
  expect(counted.flatMap(({ runs_by_ms }) => Object.keys(runs_by_ms)).length).toBeGreaterThan(5);
  const sql = migrations.find(({ name }) => name === "0018_run_durations")!.sql;
  world.db.sqlite.run("DROP TABLE usage_durations");
  world.db.sqlite.run(sql);
  expect(all()).toEqual(counted);
});

test("a range between two durations contains all that begin in it, in either order of its ends", () => {
  for (const [min, max] of [
    [0, 40],
    [200, 499],
    [33, 33],
    [500, 1e6],
  ] as const) {
    const told = new Set(Array.from({ length: max + 1 }, (_, ms) => bucketOf(ms)));
    expect(bucketsBetween(min, max)).toEqual([...told].filter((from) => from >= min));
  }
  expect(bucketsBetween(10, 5)).toEqual([]);
  expect(bucketsBetween(-5, 1)).toEqual([0, 1]);
});

import { expect, test } from "bun:test";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { foldLiveRun, type LiveRules, type LiveRuns } from "./fold-live-run.ts";

const run = (id: string, status: Run["status"] = "completed") => ({ id, status }) as Run;
const rules: LiveRules = { atTop: true, firstPage: true, limit: 3 };
const list: LiveRuns = { shown: [run("run_5"), run("run_3")], waiting: [], hasMore: false };
const ids = (live: LiveRuns) => live.shown.map(({ id }) => id);

test("a new run stands on top", () => {
  expect(ids(foldLiveRun(list, run("run_6"), rules))).toEqual(["run_6", "run_5", "run_3"]);
});

test("a shown run changes in its place, even when it leaves the filter", () => {
  const after = foldLiveRun(list, run("run_3", "failed"), rules);
  expect(ids(after)).toEqual(["run_5", "run_3"]);
  expect(after.shown[1]?.status).toBe("failed");
});

test("a run that comes to match the filter stands where its age puts it", () => {
  expect(ids(foldLiveRun(list, run("run_4"), rules))).toEqual(["run_5", "run_4", "run_3"]);
});

test("nothing is inserted while the list is scrolled: the run is counted, once", () => {
  const once = foldLiveRun(list, run("run_6"), { ...rules, atTop: false });
  const twice = foldLiveRun(once, run("run_6"), { ...rules, atTop: false });
  expect(ids(twice)).toEqual(["run_5", "run_3"]);
  expect(twice.waiting).toEqual(["run_6"]);
});

test("a run of another page stays away", () => {
  expect(foldLiveRun(list, run("run_6"), { ...rules, firstPage: false })).toEqual(list);
});

test("the page keeps its size, and runs older than a full page stay away", () => {
  const full: LiveRuns = { shown: [run("run_5"), run("run_4"), run("run_3")], waiting: [], hasMore: false };
  expect(ids(foldLiveRun(full, run("run_6"), rules))).toEqual(["run_6", "run_5", "run_4"]);
  expect(ids(foldLiveRun(full, run("run_2"), rules))).toEqual(ids(full));
});

test("what has no place on the page any more is said to stand on a further one", () => {
  const full = foldLiveRun(list, run("run_6"), rules);
  expect(full.hasMore).toBe(false);
  expect(foldLiveRun(full, run("run_7"), rules).hasMore).toBe(true);
  expect(foldLiveRun(full, run("run_1"), rules).hasMore).toBe(true);
  expect(foldLiveRun(full, run("run_5", "failed"), rules).hasMore).toBe(false);
});

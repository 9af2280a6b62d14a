import { expect, test } from "bun:test";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { foldLiveRun, type LiveRules, type LiveRuns } from "./fold-live-run.ts";

const run = (id: string, status: Run["status"] = "completed") => ({ id, status }) as Run;
const rules: LiveRules = { atTop: true, firstPage: true, limit: 3 };
const list: LiveRuns = { shown: [run("run_5"), run("run_3")], waiting: [], hasMore: false };
const ids = (live: LiveRuns) => live.shown.map(({ id }) => id);

test("a new run appears at the top", () => {
  expect(ids(foldLiveRun(list, run("run_6"), rules))).toEqual(["run_6", "run_5", "run_3"]);
});

test("a shown run is updated in place, even if it no longer matches the filter", () => {
  const after = foldLiveRun(list, run("run_3", "failed"), rules);
  expect(ids(after)).toEqual(["run_5", "run_3"]);
  expect(after.shown[1]?.status).toBe("failed");
});

test("a run that starts to match the filter is inserted by age", () => {
  expect(ids(foldLiveRun(list, run("run_4"), rules))).toEqual(["run_5", "run_4", "run_3"]);
});

test("no row is inserted while the list is scrolled: the run is counted once", () => {
  const once = foldLiveRun(list, run("run_6"), { ...rules, atTop: false });
  const twice = foldLiveRun(once, run("run_6"), { ...rules, atTop: false });
  expect(ids(twice)).toEqual(["run_5", "run_3"]);
  expect(twice.waiting).toEqual(["run_6"]);
});

test("a run of another page is not inserted", () => {
  expect(foldLiveRun(list, run("run_6"), { ...rules, firstPage: false })).toEqual(list);
});

test("the page keeps its size, and runs older than a full page are not inserted", () => {
  const full: LiveRuns = { shown: [run("run_5"), run("run_4"), run("run_3")], waiting: [], hasMore: false };
  expect(ids(foldLiveRun(full, run("run_6"), rules))).toEqual(["run_6", "run_5", "run_4"]);
  expect(ids(foldLiveRun(full, run("run_2"), rules))).toEqual(ids(full));
});

test("a row pushed off the page makes the list report further pages", () => {
  const full = foldLiveRun(list, run("run_6"), rules);
  expect(full.hasMore).toBe(false);
  expect(foldLiveRun(full, run("run_7"), rules).hasMore).toBe(true);
  expect(foldLiveRun(full, run("run_1"), rules).hasMore).toBe(true);
  expect(foldLiveRun(full, run("run_5", "failed"), rules).hasMore).toBe(false);
});

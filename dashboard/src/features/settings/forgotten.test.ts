import { expect, test } from "bun:test";
import { describeDeletedData } from "./forgotten.ts";

test("a shorter retention deletes data and says which", () => {
  expect(describeDeletedData({ "live.runs_days": null }, { "live.runs_days": 30 })).toEqual([
    "Live runs that ended more than 30 days ago are deleted.",
  ]);
  expect(describeDeletedData({ "test.traces_days": 7 }, { "test.traces_days": 1 })).toEqual([
    "Traces of test runs that ended more than 1 day ago are deleted.",
  ]);
});

test("an equal or longer retention deletes nothing", () => {
  expect(describeDeletedData({ "live.runs_days": 30 }, { "live.runs_days": 31 })).toEqual([]);
  expect(describeDeletedData({ "live.runs_days": 30 }, { "live.runs_days": null })).toEqual([]);
});

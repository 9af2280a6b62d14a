import { expect, test } from "bun:test";
import { forgotten } from "./forgotten.ts";

test("keeping for fewer days deletes, and says what", () => {
  expect(forgotten({ "live.runs_days": null }, { "live.runs_days": 30 })).toEqual([
    "Live runs that ended more than 30 days ago are deleted.",
  ]);
  expect(forgotten({ "test.traces_days": 7 }, { "test.traces_days": 1 })).toEqual([
    "Traces of test runs that ended more than 1 day ago are deleted.",
  ]);
});

test("keeping as long or longer deletes nothing", () => {
  expect(forgotten({ "live.runs_days": 30 }, { "live.runs_days": 31 })).toEqual([]);
  expect(forgotten({ "live.runs_days": 30 }, { "live.runs_days": null })).toEqual([]);
});

import { expect, test } from "bun:test";
import { joinRuns } from "./join-runs.ts";

const runs = (from: string, ...ids: number[]) => ids.map((id) => ({ id: `run_${id}`, from }));
const told = (list: { id: string; from: string }[]) => list.map(({ id, from }) => `${id} ${from}`);

test("what follows a list is put behind it, and a run of both stands there once, as in the first", () => {
  const joined = joinRuns(runs("page", 3, 2), runs("further", 2, 1));
  expect(told(joined)).toEqual(["run_3 page", "run_2 page", "run_1 further"]);
});

test("a run that the first list has no more was deleted", () => {
  expect(told(joinRuns(runs("page", 5, 2), runs("further", 4, 3, 1)))).toEqual([
    "run_5 page",
    "run_2 page",
    "run_1 further",
  ]);
});

test("behind an empty list stands the other one", () => {
  expect(told(joinRuns([], runs("further", 2, 1)))).toEqual(["run_2 further", "run_1 further"]);
});

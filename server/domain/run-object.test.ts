import { expect, test } from "bun:test";
import { created, started, stateOf } from "./__fixtures__/events.ts";
import { runObject, runOfSummary } from "./run-object.ts";
import { noUsage } from "./usage.ts";

const run = runObject(
  stateOf(created(), started(0), { type: "run.completed", output: "x", output_json: null, usage: noUsage }),
  null,
);

test("a stored summary is read back as the run that it was", () => {
  expect(runOfSummary(JSON.stringify(run))).toEqual(run);
});

test("the summary of an older version, with `ended_at` and without `timing`, is read as the same run", () => {
  const { completed_at, timing: _, ...rest } = run;
  expect(completed_at).not.toBeNull();
  expect(runOfSummary(JSON.stringify({ ...rest, ended_at: completed_at }))).toEqual({ ...run, timing: null });
});

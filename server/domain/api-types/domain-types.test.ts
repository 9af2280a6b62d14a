import { expectTypeOf, test } from "bun:test";
import type { RunObject } from "../run-object.ts";
import type { RunSummary } from "../run-summary.ts";
import type { TraceStep as Step } from "../trace.ts";
import type { Run, RunListItem } from "./run.ts";
import type { TraceStep } from "./trace.ts";

// Checked by the compiler: a field of the domain that the schema lacks would be missing in the reference.
test("runs and steps as the domain makes them fit the API's types, without extra fields", () => {
  expectTypeOf<RunObject>().toExtend<Run>();
  expectTypeOf<Exclude<keyof RunObject, keyof Run>>().toBeNever();
  expectTypeOf<RunSummary>().toExtend<RunListItem>();
  expectTypeOf<Exclude<keyof RunSummary, keyof RunListItem>>().toBeNever();
  expectTypeOf<Step>().toExtend<TraceStep>();
  expectTypeOf<Exclude<keyof Step, keyof TraceStep>>().toBeNever();
});

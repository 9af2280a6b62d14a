import { expect, test } from "bun:test";
import type { Trace as TracePage, TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { stepOf, traceOf } from "../../features/trace/trace-fixtures.ts";
import { joinSteps, lastSettledStepId } from "./trace-api.ts";

const page = (steps: TraceStep[], steps_has_more = false): TracePage => ({ ...traceOf(), steps, steps_has_more });
const ids = (steps: readonly TraceStep[]) => steps.map(({ step_index }) => step_index);

test("the pages of a long trace are joined, each fetched after the previous one", () => {
  const first = joinSteps(undefined, null, page([stepOf(0), stepOf(1)], true));
  const second = joinSteps(first, lastSettledStepId(first), page([stepOf(2), stepOf(3)]));
  expect([ids(second.steps), second.hasMore]).toEqual([[0, 1, 2, 3], false]);
});

test("steps that may change are refetched, and settled steps keep their identity", () => {
  const running = stepOf(1, { status: "in_progress", completed_at: null });
  const held = joinSteps(undefined, null, page([stepOf(0), running, stepOf(2)]));
  expect(lastSettledStepId(held)).toBe(held.steps[0]!.id);
  const next = joinSteps(held, lastSettledStepId(held), page([stepOf(1), stepOf(2), stepOf(3)]));
  expect(ids(next.steps)).toEqual([0, 1, 2, 3]);
  expect(next.steps[0]).toBe(held.steps[0]!);
  expect(next.steps[1]?.status).toBe("completed");
});

test("a trace whose first step is still running is read from its beginning", () => {
  const held = joinSteps(undefined, null, page([stepOf(0, { status: "waiting", completed_at: null })]));
  expect(lastSettledStepId(held)).toBeNull();
  expect(ids(joinSteps(held, null, page([stepOf(0), stepOf(1)])).steps)).toEqual([0, 1]);
});

import { expect, test } from "bun:test";
import type { Trace as TracePage, TraceStep } from "../../../../server/wire/trace.ts";
import { stepOf, traceOf } from "../../features/trace/trace-fixtures.ts";
import { joinSteps, readOnAfter } from "./trace-api.ts";

const page = (steps: TraceStep[], steps_has_more = false): TracePage => ({ ...traceOf(), steps, steps_has_more });
const ids = (steps: readonly TraceStep[]) => steps.map(({ step_index }) => step_index);

test("the pages of a long trace join to the whole, each read behind the one before", () => {
  const first = joinSteps(undefined, null, page([stepOf(0), stepOf(1)], true));
  const second = joinSteps(first, readOnAfter(first), page([stepOf(2), stepOf(3)]));
  expect([ids(second.steps), second.hasMore]).toEqual([[0, 1, 2, 3], false]);
});

test("what may still change is read anew, and what cannot stays the very same object", () => {
  const running = stepOf(1, { status: "in_progress", ended_at: null });
  const held = joinSteps(undefined, null, page([stepOf(0), running, stepOf(2)]));
  expect(readOnAfter(held)).toBe(held.steps[0]!.id);
  const next = joinSteps(held, readOnAfter(held), page([stepOf(1), stepOf(2), stepOf(3)]));
  expect(ids(next.steps)).toEqual([0, 1, 2, 3]);
  expect(next.steps[0]).toBe(held.steps[0]!);
  expect(next.steps[1]?.status).toBe("completed");
});

test("a trace whose first step goes on is read from its beginning", () => {
  const held = joinSteps(undefined, null, page([stepOf(0, { status: "waiting", ended_at: null })]));
  expect(readOnAfter(held)).toBeNull();
  expect(ids(joinSteps(held, null, page([stepOf(0), stepOf(1)])).steps)).toEqual([0, 1]);
});

import { expect, test } from "bun:test";
import { begin, created, entriesOf, started, turnWithCalls, usage } from "./__fixtures__/events.ts";
import { runError } from "./run-error.ts";
import type { RunEvent } from "./run-event.ts";
import { fold } from "./run-state.ts";
import { cancelledEvents, failedEvents } from "./terminal-events.ts";

const stateOf = (...events: RunEvent[]) => fold(entriesOf(...events));
const types = (events: RunEvent[]) => events.map(({ type }) => type);
const said = {
  parts: [{ type: "text" as const, text: "Half" }],
  deltas: [0, 4, 3],
  usage,
  cost_usd: 0,
  estimated: true,
};

test("text streamed until the end is recorded, counted and kept as the output", () => {
  const events = cancelledEvents(stateOf(created(), started(0)), "enough", begin + 100, said);
  expect(types(events)).toEqual(["step.completed", "run.cancelled"]);
  expect(events[0]).toMatchObject({
    status: "cancelled",
    latency_ms: 90,
    answer: { deltas: [0, 4, 3], estimated: true },
  });
  expect(events[1]).toMatchObject({ output: "Half", reason: "enough", usage: { output_tokens: 4, estimated: true } });
});

test("unanswered calls are cancelled, one by one", () => {
  const state = stateOf(...turnWithCalls(["a", null], ["b", "output"]));
  const error = runError("run_timeout", "Too long.", state);
  const events = failedEvents(state, error, begin + 100);
  expect(types(events)).toEqual(["tool.completed", "step.completed", "tool.completed", "step.completed", "run.failed"]);
  expect(events[0]).toMatchObject({ tool_call_id: "a", status: "cancelled", error: { code: "cancelled" } });
  expect(events.at(-1)).toMatchObject({ error, usage: { tool_calls: 2 } });
});

test("deltas that died with their process are taken back before the run ends", () => {
  const recovered: RunEvent = { type: "run.recovered", attempt: 2, step_index: 0 };
  const state = stateOf(created(), started(0), recovered);
  const events = cancelledEvents(state, null, begin, null);
  expect(types(events)).toEqual(["step.restarted", "step.completed", "run.cancelled"]);
  expect(events[0]).toMatchObject({ discards: 2, attempt: 2, reason: { code: "process_restarted" } });
  expect(types(cancelledEvents(state, null, begin, said))).toEqual(["step.completed", "run.cancelled"]);
});

import { partialOutput } from "./decide.ts";
import { newId } from "./ids.ts";
import { processRestarted, restartStep } from "./restart.ts";
import type { ModelAnswer, RunError, RunEvent } from "./run-event.ts";
import { apply, type OpenStep, pendingCalls, type RunState } from "./run-state.ts";
import { settleCall } from "./settle.ts";

/** What an unfinished model call has said and cost so far. */
export type Partial = Pick<ModelAnswer, "parts" | "deltas" | "usage" | "cost_usd" | "estimated">;

/** The end of a run that failed; what is still open is closed first, so that its trace has no loose ends. */
export function failedEvents(state: RunState, error: RunError, at: number, partial: Partial | null = null): RunEvent[] {
  return conclude(state, at, partial, ({ usage, ...rest }) => ({
    type: "run.failed",
    error,
    output: partialOutput({ usage, ...rest }),
    usage,
  }));
}

/** The end of a run that was cancelled. */
export function cancelledEvents(
  state: RunState,
  reason: string | null,
  at: number,
  partial: Partial | null,
): RunEvent[] {
  return conclude(state, at, partial, ({ usage, ...rest }) => ({
    type: "run.cancelled",
    reason,
    output: partialOutput({ usage, ...rest }),
    usage,
  }));
}

function conclude(
  state: RunState,
  at: number,
  partial: Partial | null,
  end: (closed: RunState) => RunEvent,
): RunEvent[] {
  const closing = [...closeModelCall(state, at, partial), ...closeToolCalls(state, at)];
  const closed = closing.reduce((next, event, index) => apply(next, { seq: state.seq + index + 1, at, event }), state);
  return [...closing, end(closed)];
}

/** Records what was streamed: whoever read it finds the same in the journal. */
function closeModelCall(state: RunState, at: number, partial: Partial | null): RunEvent[] {
  const step = state.open.find((open) => open.step_type === "model_call");
  if (!step) return [];
  const latency_ms = Math.max(0, at - step.started_at);
  const answer = partial && {
    ...partial,
    message_id: newId("message"),
    finish: null,
    time_to_first_token_ms: partial.deltas[2] ?? null,
  };
  return [
    ...(partial ? [] : discardLost(state, step)),
    {
      type: "step.completed",
      step_index: step.step_index,
      step_type: "model_call",
      status: "cancelled",
      latency_ms,
      error: null,
      answer,
    },
  ];
}

/** What an earlier process streamed died with it: readers are told, since no entry will ever hold it. */
const discardLost = (state: RunState, step: OpenStep): RunEvent[] =>
  step.run_attempt === state.attempt ? [] : [restartStep(step, processRestarted("the model was answering"))];

const closeToolCalls = (state: RunState, at: number): RunEvent[] =>
  pendingCalls(state).flatMap((call) => {
    const latency_ms = Math.max(0, at - call.created_at);
    const error = { code: "cancelled", message: "The run ended before this call did." };
    const { attempts } = call;
    return settleCall(call, { status: "cancelled", output: null, error, latency_ms, attempts, submitted: false });
  });

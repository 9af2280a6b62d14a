import { tooManyCalls } from "./budget.ts";
import { completeCall } from "./complete-call.ts";
import { newId } from "./ids.ts";
import { processRestarted, restartStep } from "./restart.ts";
import type { ModelAnswer, RunError, RunEvent, RunUsage } from "./run-event.ts";
import { applyAll, type OpenStep, openStep, ownMessages, pendingCalls, type RunState } from "./run-state.ts";
import { endStep } from "./step-events.ts";
import { stepKinds } from "./step-kinds.ts";
import { textOf } from "./text-of.ts";

/** Text and usage of an unfinished model call so far. */
export type Partial = Pick<
  ModelAnswer,
  "parts" | "deltas" | "usage" | "cost_usd" | "estimated" | "cost_estimated" | "model"
>;

/** Usage of the child runs of open calls, by call. */
export type ChildUsages = ReadonlyMap<string, RunUsage>;

const noChildren: ChildUsages = new Map();

/** Facts about the calls that end with their run. */
interface OpenCalls {
  children: ChildUsages;
  /** True if none of them was made. */
  refused: boolean;
}

/** Returns the events that fail a run. Open steps and calls are closed first, so that the trace is complete. */
export function failedEvents(
  state: RunState,
  error: RunError,
  at: number,
  partial: Partial | null = null,
  children: ChildUsages = noChildren,
): RunEvent[] {
  // If one call is too many, none of those requested together was made.
  const refused = error.code === "budget_exceeded" && tooManyCalls(state) !== null;
  return conclude(state, at, partial, { children, refused }, ({ usage, ...rest }) => ({
    type: "run.failed",
    error,
    output: partialOutput({ usage, ...rest }),
    usage,
  }));
}

/** Returns the events that cancel a run. */
export function cancelledEvents(
  state: RunState,
  reason: string | null,
  at: number,
  partial: Partial | null,
  children: ChildUsages = noChildren,
): RunEvent[] {
  return conclude(state, at, partial, { children, refused: false }, ({ usage, ...rest }) => ({
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
  calls: OpenCalls,
  end: (closed: RunState) => RunEvent,
): RunEvent[] {
  const closing = [
    ...closeModelCall(state, at, partial),
    ...closeOwnWork(state, at),
    ...closeToolCalls(state, at, calls),
  ];
  return [...closing, end(applyAll(state, closing, at))];
}

/** Returns the newest text, of an answer or a discarded attempt: the output of a run that ends early. */
export function partialOutput(state: RunState): string | null {
  if (state.discarded !== null) return state.discarded;
  const last = ownMessages(state).findLast((message) => message.role === "assistant");
  return (last && textOf(last.parts)) || null;
}

/** Adds the usage of child runs to a failure recorded by the run's loop, which does not know it. */
export function withChildUsages(
  state: RunState,
  events: readonly RunEvent[],
  at: number,
  children: ChildUsages,
): RunEvent[] {
  const counted = events.map((event) => {
    const usage = event.type === "tool.completed" && !event.usage && children.get(event.tool_call_id);
    return usage ? { ...event, usage } : event;
  });
  return counted.map((event, index) =>
    event.type === "run.failed" ? { ...event, usage: applyAll(state, counted.slice(0, index), at).usage } : event,
  );
}

/** Records the streamed text, so that the journal agrees with the stream. */
function closeModelCall(state: RunState, at: number, partial: Partial | null): RunEvent[] {
  const step = openStep(state, "model_call");
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
    endStep({ step_index: step.step_index, step_type: "model_call", status: "cancelled", latency_ms, answer }),
  ];
}

/** Closes the open silent steps. */
const closeOwnWork = ({ open }: RunState, at: number): RunEvent[] =>
  open.flatMap(({ step_index, step_type, started_at }): RunEvent[] => {
    if (!stepKinds[step_type].isSilent) return [];
    const latency_ms = Math.max(0, at - started_at);
    return [endStep({ step_index, step_type, status: "cancelled", latency_ms })];
  });

/** Discards the deltas of an earlier process, so that readers learn that no entry will contain them. */
const discardLost = (state: RunState, step: OpenStep): RunEvent[] =>
  step.run_attempt === state.attempt ? [] : [restartStep(step, processRestarted("the model was answering"))];

const closeToolCalls = (state: RunState, at: number, { children, refused }: OpenCalls): RunEvent[] =>
  pendingCalls(state).flatMap((call) => {
    const latency_ms = Math.max(0, at - call.created_at);
    const error = { code: "cancelled", message: "The run ended before this call did." };
    const { attempts } = call;
    const usage = children.get(call.id);
    return completeCall(call, {
      status: "cancelled",
      output: null,
      error,
      latency_ms,
      attempts,
      submitted: false,
      ...(usage && { usage }),
      ...(refused && { refused }),
    });
  });

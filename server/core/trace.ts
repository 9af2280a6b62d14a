import { textOf } from "./decide.ts";
import type { AssistantPart } from "./model-call.ts";
import type { JournalEntry, ModelSpend, StepCompleted, StepStarted } from "./run-event.ts";
import { messageObject } from "./run-object.ts";
import { apply, initialState, isOver, type RunState } from "./run-state.ts";
import { timestamp, timestampOrNull } from "./time.ts";

/** One entry of a trace (contract, section 16). Times are RFC 3339, latencies milliseconds. */
export interface TraceStep {
  id: string;
  object: "trace_step";
  step_index: number;
  turn_index: number;
  parent_id: string | null;
  type: StepStarted["step_type"];
  name: string;
  status: "in_progress" | "waiting" | "completed" | "failed" | "rejected" | "cancelled" | "unknown";
  attempt: number;
  started_at: string;
  ended_at: string | null;
  latency_ms: number | null;
  time_to_first_token_ms: number | null;
  input: unknown;
  output: unknown;
  reasoning: string | null;
  error: { code: string; message: string } | null;
  usage: (ModelSpend["usage"] & { cost_usd: number | null; estimated: boolean }) | null;
  model: string | null;
  tool_call_id: string | null;
  input_hash: string | null;
  replayed: boolean;
  /** Discarded attempts, oldest first: why each was given up. */
  retries: { attempt: number; at: string; reason: { code: string; message: string } | null; delay_ms: number }[];
  /** With `include=raw`: the journal's own entries of this step. */
  raw?: JournalEntry[];
}

export interface Trace {
  steps: TraceStep[];
  state: RunState;
}

/** Folds the journal into the steps that a person reads. The last fold of the same entries is the run itself. */
export function traceOf(entries: readonly JournalEntry[], options: { raw?: boolean } = {}): Trace {
  const steps: TraceStep[] = [];
  let state = initialState;
  let told = 0; // Messages that an earlier model call has already shown as its input.
  for (const entry of entries) {
    const { event, at } = entry;
    const before = state;
    state = apply(state, entry);
    switch (event.type) {
      case "step.started":
        steps[event.step_index] = started(event, at, state, told);
        if (event.step_type === "model_call") told = before.messages.length;
        break;
      case "step.restarted": {
        const step = steps[event.step_index]!;
        step.retries.push({ attempt: step.attempt, at: timestamp(at), reason: event.reason, delay_ms: event.delay_ms });
        step.attempt = event.attempt;
        break;
      }
      case "step.completed":
        completed(steps[event.step_index]!, event, at);
        break;
      case "tool.completed": {
        const step = steps[event.step_index]!;
        step.status = event.status;
        step.output = event.output ?? null;
        step.error = event.error;
        break;
      }
    }
    const index = stepOf(entry, state);
    if (options.raw && index !== null) steps[index]!.raw = [...(steps[index]!.raw ?? []), entry];
  }
  if (!isOver(state.status)) markWaiting(steps, state);
  return { steps: steps.filter(Boolean), state };
}

function started(event: StepStarted, at: number, state: RunState, told: number): TraceStep {
  const call = state.calls.find(({ id }) => id === event.tool_call_id);
  return {
    id: event.step_id,
    object: "trace_step",
    step_index: event.step_index,
    turn_index: event.turn_index,
    parent_id: null,
    type: event.step_type,
    name: event.name,
    status: "in_progress",
    attempt: event.attempt,
    started_at: timestamp(at),
    ended_at: null,
    latency_ms: null,
    time_to_first_token_ms: null,
    input: call ? call.arguments : modelInput(state, told),
    output: null,
    reasoning: null,
    error: null,
    usage: null,
    model: event.step_type === "model_call" ? state.run!.model : null,
    tool_call_id: event.tool_call_id,
    input_hash: event.input_hash,
    replayed: false,
    retries: [],
  };
}

/** What is new for the model since its last call; `earlier_messages` counts what it had already seen. */
const modelInput = ({ messages, calls }: RunState, told: number) => ({
  earlier_messages: told,
  messages: messages.slice(told).map((message) => messageObject(message, calls)),
});

function completed(step: TraceStep, event: StepCompleted, at: number): void {
  step.ended_at = timestampOrNull(at);
  step.latency_ms = event.latency_ms;
  if (event.step_type !== "tool_call") {
    step.status = event.status;
    step.error = event.error;
  }
  if (!event.answer) return;
  const { parts, usage, cost_usd, estimated, time_to_first_token_ms } = event.answer;
  step.output = answerOutput(parts);
  step.reasoning = parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("") || null;
  step.usage = { ...usage, cost_usd, estimated };
  step.time_to_first_token_ms = time_to_first_token_ms;
}

const answerOutput = (parts: readonly AssistantPart[]) => ({
  content: textOf(parts),
  tool_calls: parts.flatMap((part) =>
    part.type === "tool_call" ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
  ),
});

function stepOf({ event }: JournalEntry, state: RunState): number | null {
  if ("step_index" in event && event.type !== "run.recovered") return event.step_index;
  if (event.type === "tool.requested") return null; // Comes before its step has begun; the step's input repeats it.
  if (event.type === "tool.decided") return state.calls.find(({ id }) => id === event.tool_call_id)?.step_index ?? null;
  return null;
}

function markWaiting(steps: TraceStep[], state: RunState): void {
  for (const call of state.calls) {
    const step = steps[call.step_index];
    if (step && call.needs !== null) step.status = call.needs === "reconcile" ? "unknown" : "waiting";
  }
}

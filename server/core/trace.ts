import { textOf } from "./decide.ts";
import type { AssistantPart } from "./model-call.ts";
import type {
  Decider,
  FileFacts,
  GuardrailDecided,
  JournalEntry,
  ModelSpend,
  StepCompleted,
  StepStarted,
} from "./run-event.ts";
import { messageObject } from "./run-object.ts";
import { apply, initialState, isOver, type RunState, waitsForSomebody } from "./run-state.ts";
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
  /** For an agent's call: the run that answers it. Its trace nests here. */
  subagent: { run_id: string; agent_id: string } | null;
  /** For a call that a person judged. */
  approval: Approval | null;
  /** Discarded attempts, oldest first: why each was given up. */
  retries: { attempt: number; at: string; reason: { code: string; message: string } | null; delay_ms: number }[];
  /** With `include=subagents`: the run whose step it is. That of a child run has the agent's call as its `parent_id`. */
  run_id?: string;
  /** What the call made. */
  files?: FileFacts[];
  /** With `include=raw`: the journal's own entries of this step. */
  raw?: JournalEntry[];
}

/** What somebody said to a call that waited for it; `by` is null where the record does not tell. */
export interface Approval {
  decision: "approve" | "reject";
  reason: string | null;
  edited: boolean;
  at: string;
  by: Decider | null;
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
        if (event.files && event.files.length > 0) step.files = event.files;
        if (event.status === "rejected")
          step.approval = {
            decision: "reject",
            reason: event.error?.message ?? null,
            edited: false,
            at: timestamp(at),
            by: event.by ?? null,
          };
        break;
      }
      case "tool.decided": {
        const call = state.calls.find(({ id }) => id === event.tool_call_id)!;
        const { decision, reason, arguments: edited } = event;
        const step = steps[call.step_index]!;
        step.approval = { decision, reason, edited: edited !== null, at: timestamp(at), by: event.by ?? null };
        step.input = call.arguments;
        break;
      }
      case "subagent.started": {
        const { step_index } = state.calls.find(({ id }) => id === event.tool_call_id)!;
        steps[step_index]!.subagent = { run_id: event.run_id, agent_id: event.agent_id };
        break;
      }
      case "guardrail.decided":
        steps[event.step_index] = guarded(event, at, state);
        break;
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
    subagent: null,
    approval: null,
    retries: [],
  };
}

function guarded(event: GuardrailDecided, at: number, state: RunState): TraceStep {
  const { guardrail, verdict, message, matches, spent, latency_ms } = event;
  return {
    id: event.step_id,
    object: "trace_step",
    step_index: event.step_index,
    turn_index: event.turn_index,
    parent_id: null,
    type: "guardrail",
    name: guardrail.type,
    status: verdict === "blocked" ? "failed" : "completed",
    attempt: 1,
    started_at: timestamp(at - latency_ms),
    ended_at: timestamp(at),
    latency_ms,
    time_to_first_token_ms: null,
    input: guardrail,
    output: { verdict, message, matches },
    reasoning: null,
    error: verdict === "blocked" ? { code: "guardrail_blocked", message } : null,
    usage: spent && { ...spent.usage, cost_usd: spent.cost_usd, estimated: spent.estimated },
    model: spent ? state.run!.model : null,
    tool_call_id: event.tool_call_id,
    input_hash: null,
    replayed: false,
    subagent: null,
    approval: null,
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
  if (event.step_type !== "tool_call" && event.step_type !== "subagent") {
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
  if (!("tool_call_id" in event)) return null;
  return state.calls.find(({ id }) => id === event.tool_call_id)?.step_index ?? null;
}

function markWaiting(steps: TraceStep[], state: RunState): void {
  for (const call of state.calls) {
    const step = steps[call.step_index];
    if (step && waitsForSomebody(call)) step.status = call.needs === "reconcile" ? "unknown" : "waiting";
  }
}

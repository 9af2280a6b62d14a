import { entryOf } from "../lib/collections.ts";
import { requireValue } from "../lib/require-value.ts";
import type { AssistantPart, FinishReason, RequestAdjustment } from "./model-call.ts";
import { providerCallsIn, sourcesIn } from "./provider-items.ts";
import { retrievalQuery } from "./retrieval.ts";
import type {
  CallStatus,
  ContextCompacted,
  Decider,
  Decision,
  FileFacts,
  GuardrailDecided,
  HandoffCompleted,
  JournalEntry,
  ModelSpend,
  RunUsage,
  StepCompleted,
  StepRestarted,
  StepStarted,
  ToolCompleted,
  ToolProgress,
} from "./run-event.ts";
import { messageObject } from "./run-object.ts";
import { createFold, isAwaitingAnswer, isOver, type RunState, requireRun, type ToolCall } from "./run-state.ts";
import { stepKinds } from "./step-kinds.ts";
import { textOf } from "./text-of.ts";
import { timestamp, timestampOrNull } from "./time.ts";
import { addPause, type TracePause } from "./trace-pauses.ts";
import { tokensOf } from "./usage.ts";
import { emptyWorkspace } from "./workspace.ts";
import type { Workspace, WorkspaceChange, WorkspaceFile } from "./workspace-schema.ts";

/** One entry of a trace (contract, section 16). Times are RFC 3339, latencies milliseconds. */
export interface TraceStep {
  id: string;
  object: "trace_step";
  step_index: number;
  turn_index: number;
  parent_id: string | null;
  type: StepStarted["step_type"];
  name: string;
  status: "in_progress" | "waiting" | CallStatus;
  attempt: number;
  started_at: string;
  completed_at: string | null;
  latency_ms: number | null;
  time_to_first_token_ms: number | null;
  input: unknown;
  output: unknown;
  reasoning: string | null;
  error: { code: string; message: string } | null;
  /** Usage of the valid attempt; for an agent's call, of its whole run. `retries` has that of the others. */
  usage: StepUsage | null;
  finish_reason: FinishReason | null;
  /** Settings and fields that the provider did not take; absent if there are none. */
  adjustments?: RequestAdjustment[];
  model: string | null;
  tool_call_id: string | null;
  /** Type of the called tool: `http`, `client`, `agent` and so on. */
  tool_type: string | null;
  input_hash: string | null;
  /** Of a model call with deferred tools: the loaded ones, in the order in which they were. */
  tools_loaded?: string[];
  /** True if it was copied from another run: nothing was done or paid for it. */
  replayed: boolean;
  /** For an agent's call: the run that answers it, whose trace nests here. */
  subagent: { run_id: string; agent_id: string } | null;
  /** For a call that handed the conversation over: the agent that goes on in this run. */
  handoff?: { from_agent_id: string; agent_id: string; agent_name: string };
  /** For a call that a person decided on. */
  approval: Approval | null;
  /** Discarded attempts, oldest first, with their reasons. */
  retries: Retry[];
  /** With `include=subagents`: the step's run. Steps of a child run have the agent's call as `parent_id`. */
  run_id?: string;
  /** Progress that the MCP server of the call reported, oldest first; absent if it reported none. */
  progress?: (Pick<ToolProgress, "progress" | "total" | "message" | "level"> & { at: string })[];
  /** Files that the call made. */
  files?: FileFacts[];
  /** For a program: its part in the folder that it shares, and the folder after it. */
  workspace?: StepWorkspace;
  /** With `include=raw`: the journal entries of this step. */
  raw?: JournalEntry[];
}

/** The folder after a program has at most so many of its files here; `file_count` and `bytes` are of all. */
const shownFiles = 100;

type StepWorkspace = Omit<WorkspaceChange, "start"> & {
  files: WorkspaceFile[];
  file_count: number;
  bytes: number;
};

export type StepUsage = ModelSpend["usage"] & Omit<ModelSpend, "usage">;

interface Retry {
  attempt: number;
  at: string;
  /** The model of a model call's discarded attempt, if another one was asked next. */
  model?: string;
  reason: { code: string; message: string } | null;
  delay_ms: number;
  /** Usage of the discarded attempt; null if unknown. */
  usage: StepUsage | null;
}

/** A new process took over the run. Not a step, because that would renumber the steps of older records. */
export interface Recovery {
  attempt: number;
  at: string;
  /** The interrupted step; null if there was none. */
  step_index: number | null;
}

/** A person's decision on a waiting call; `by` is null if it was not recorded. */
export interface Approval {
  decision: Decision;
  reason: string | null;
  edited: boolean;
  at: string;
  by: Decider | null;
}

export interface Trace {
  steps: TraceStep[];
  recoveries: Recovery[];
  pauses: TracePause[];
  state: RunState;
}

export interface TraceFold {
  /** Adds the next entry. */
  add(entry: JournalEntry): void;
  trace(): Trace;
}

/** Folds the journal into the steps of a trace. The final state is the run itself. */
export function traceOf(entries: Iterable<JournalEntry>, options: { raw?: boolean } = {}): Trace {
  const fold = createTraceFold(options);
  for (const entry of entries) fold.add(entry);
  return fold.trace();
}

/** Folds entry by entry, so that a long journal can be read in pieces. */
export function createTraceFold({ raw = false }: { raw?: boolean } = {}): TraceFold {
  const steps: TraceStep[] = [];
  const recoveries: Recovery[] = [];
  const pauses: TracePause[] = [];
  const stepOfCall = new Map<string, number>();
  const folding = createFold();
  let earlierCount = 0; // Number of messages that earlier model calls showed as input.

  const stepAt = (index: number): TraceStep => requireValue(steps[index], `Step ${index}`);
  const ofCall = (id: string): TraceStep => stepAt(entryOf(stepOfCall, id));

  function add(entry: JournalEntry): void {
    const { event, at } = entry;
    const state = folding.add(entry);
    if (event.type === "tool.requested") stepOfCall.set(event.call.id, event.call.step_index);
    switch (event.type) {
      case "step.started":
        steps[event.step_index] = newStep(event, at, state, earlierCount);
        if (event.step_type === "model_call") earlierCount = state.messages.length;
        break;
      case "step.restarted":
        addRetry(stepAt(event.step_index), event, at);
        break;
      case "step.completed":
        completeStep(stepAt(event.step_index), event, at);
        break;
      case "tool.progress": {
        const step = stepAt(event.step_index);
        const { progress, total, message, level } = event;
        step.progress ??= [];
        step.progress.push({ at: timestamp(at), progress, total, message, level });
        break;
      }
      case "tool.completed":
        setResult(stepAt(event.step_index), event, at);
        if (event.workspace)
          stepAt(event.step_index).workspace = workspaceOf(
            event.workspace,
            state.workspaces?.[event.workspace.shared_by],
          );
        break;
      case "tool.decided": {
        const { decision, reason, arguments: edited } = event;
        if (decision === "answer") break;
        const step = ofCall(event.tool_call_id);
        step.approval = { decision, reason, edited: edited !== null, at: timestamp(at), by: event.by ?? null };
        if (edited) step.input = edited;
        break;
      }
      case "subagent.started":
        ofCall(event.tool_call_id).subagent = { run_id: event.run_id, agent_id: event.agent_id };
        break;
      case "handoff.completed":
        ofCall(event.tool_call_id).handoff = handoffOf(event);
        break;
      case "memory.retrieved": {
        const { query, stores, matches, failures, reranks, degradations, usage } = event;
        const output = { matches, failures, ...(reranks && { reranks }), ...(degradations && { degradations }) };
        Object.assign(stepAt(event.step_index), {
          input: { query, stores },
          output,
          ...(usage && { usage: usageOfRun(usage) }),
        });
        break;
      }
      case "context.compacted":
        compacted(stepAt(event.step_index), event, state);
        break;
      case "guardrail.decided":
        steps[event.step_index] = guardrailStep(event, at, state);
        break;
      case "run.recovered":
        recoveries.push({ attempt: event.attempt, at: timestamp(at), step_index: event.step_index });
        break;
    }
    addPause(pauses, entry);
    if (raw) keepRaw(entry);
  }

  function keepRaw(entry: JournalEntry): void {
    const index = stepOf(entry, stepOfCall);
    if (index === null) return;
    const step = stepAt(index);
    step.raw ??= [];
    step.raw.push(entry);
  }

  return {
    add,
    trace() {
      const state = requireRun(folding.state);
      if (!isOver(state.status)) markWaiting(steps, state);
      return { steps: steps.filter(Boolean), recoveries, pauses, state };
    },
  };
}

const callOf = ({ calls }: RunState, id: string): ToolCall | undefined => calls.findLast((call) => call.id === id);

/** True if the newest entry was copied from another run. */
const isRecorded = ({ run, seq }: RunState): boolean => seq <= (run.recorded_to ?? 0);

const usageOf = ({ usage, cost_usd, estimated, cost_estimated }: Omit<ModelSpend, "model">): StepUsage => ({
  ...usage,
  cost_usd,
  estimated,
  ...(cost_estimated && { cost_estimated }),
});

/** Defaults of a step. */
const withoutMore = {
  parent_id: null,
  completed_at: null,
  latency_ms: null,
  time_to_first_token_ms: null,
  output: null,
  reasoning: null,
  error: null,
  usage: null,
  finish_reason: null,
  subagent: null,
  approval: null,
};

function newStep(event: StepStarted, at: number, state: RunState, told: number): TraceStep {
  const { step_id, step_index, turn_index, step_type, name, attempt, tool_call_id, input_hash, tools_loaded } = event;
  const call = tool_call_id === null ? undefined : callOf(state, tool_call_id);
  return {
    id: step_id,
    object: "trace_step",
    step_index,
    turn_index,
    type: step_type,
    name,
    ...withoutMore,
    status: "in_progress",
    attempt,
    tool_call_id,
    tool_type: call?.type ?? null,
    input_hash,
    ...(tools_loaded && { tools_loaded }),
    started_at: timestamp(at),
    input: call ? call.arguments : ownInput(event, state, told),
    model: step_type === "model_call" ? name : null,
    replayed: isRecorded(state),
    retries: [],
  };
}

function guardrailStep(event: GuardrailDecided, at: number, state: RunState): TraceStep {
  const { step_id, step_index, turn_index, tool_call_id, guardrail, verdict, message, matches, spent } = event;
  const blocked = verdict === "blocked";
  return {
    id: step_id,
    object: "trace_step",
    step_index,
    turn_index,
    type: "guardrail",
    name: guardrail.type,
    ...withoutMore,
    status: blocked ? "failed" : "completed",
    attempt: 1,
    tool_call_id,
    tool_type: null,
    input_hash: null,
    started_at: timestamp(at - event.latency_ms),
    completed_at: timestamp(at),
    latency_ms: event.latency_ms,
    input: guardrail,
    output: { verdict, message, matches },
    error: blocked ? { code: "guardrail_blocked", message } : null,
    usage: spent && usageOf(spent),
    model: spent && (spent.model ?? state.run.model),
    replayed: isRecorded(state),
    retries: [],
  };
}

/** Input of a step that is not a tool call. */
function ownInput({ step_type }: StepStarted, state: RunState, told: number): unknown {
  if (step_type === "retrieval") return { query: retrievalQuery(state.run.input), stores: null };
  return step_type === "compaction" ? null : modelInput(state, told);
}

/**
 * New input since the model's last call; `earlier_messages` counts the run's messages shown before. Numbers of external
 * and left-out messages are included if there are any.
 */
const modelInput = ({ messages, calls, history, documents, retrieved, compacted }: RunState, told: number) => ({
  earlier_messages: told,
  ...(history.length > 0 && { history_messages: history.length }),
  ...(documents.length > 0 && { documents: documents.length }),
  ...(retrieved && retrieved.matches.length > 0 && { passages: retrieved.matches.length }),
  ...(compacted && { left_out: compacted.left_out, summarized: compacted.summary !== null }),
  // The call is one of the newest, so searching from the end is fast.
  messages: messages
    .slice(told)
    .map((message) => messageObject(message, (id) => calls.findLast((call) => call.id === id))),
});

function addRetry(step: TraceStep, { attempt, reason, delay_ms, spent, model }: StepRestarted, at: number): void {
  const from = model !== undefined && step.model !== null ? { model: step.model } : {};
  const usage = spent && usageOf(spent);
  step.retries.push({ attempt: step.attempt, at: timestamp(at), ...from, reason, delay_ms, usage });
  step.attempt = attempt;
  if (model !== undefined && step.type === "model_call") Object.assign(step, { model, name: model });
}

const handoffOf = ({ from_agent_id, agent_id, agent_name }: HandoffCompleted) => ({
  from_agent_id,
  agent_id,
  agent_name,
});

function setResult(step: TraceStep, event: ToolCompleted, at: number): void {
  const { status, output, error, files, by, usage, recorded } = event;
  step.status = status;
  step.output = output ?? null;
  step.error = error;
  if (recorded) step.replayed = true;
  if (usage) step.usage = usageOfRun(usage);
  if (files && files.length > 0) step.files = files;
  if (status !== "rejected") return;
  const rejection = { decision: "reject", reason: error?.message ?? null, edited: false } as const;
  step.approval = { ...rejection, at: timestamp(at), by: by ?? null };
}

function workspaceOf({ start: _, ...change }: WorkspaceChange, { files }: Workspace = emptyWorkspace): StepWorkspace {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { ...change, files: files.slice(0, shownFiles), file_count: files.length, bytes };
}

const usageOfRun = (usage: RunUsage): StepUsage => ({
  ...tokensOf(usage),
  cost_usd: usage.cost_usd,
  estimated: usage.estimated,
  ...(usage.cost_estimated && { cost_estimated: true }),
});

function compacted(step: TraceStep, event: ContextCompacted, state: RunState): void {
  const { strategy, summary, left_out, tokens_before, tokens_after, tool_output_max_bytes, spent } = event;
  step.input = { strategy, tokens_before };
  step.output = { summary, left_out, tokens_after, ...(tool_output_max_bytes && { tool_output_max_bytes }) };
  step.usage = spent && usageOf(spent);
  step.model = spent && (spent.model ?? state.run.model);
}

function completeStep(step: TraceStep, event: StepCompleted, at: number): void {
  step.completed_at = timestampOrNull(at);
  step.latency_ms = event.latency_ms;
  if (!stepKinds[event.step_type].isCall) {
    step.status = event.status;
    step.error = event.error;
  }
  if (!event.answer) return;
  const { parts, finish, time_to_first_token_ms, adjustments } = event.answer;
  step.output = answerOutput(parts);
  step.reasoning = parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("") || null;
  step.usage = usageOf(event.answer);
  step.finish_reason = finish;
  if (adjustments && adjustments.length > 0) step.adjustments = adjustments;
  step.time_to_first_token_ms = time_to_first_token_ms;
}

/** Output of a model call; calls of the provider's own tools and sources only if there are any. */
function answerOutput(parts: readonly AssistantPart[]) {
  const [provider_calls, sources] = [providerCallsIn(parts), sourcesIn(parts)];
  return {
    ...textAndCalls(parts),
    ...(provider_calls.length > 0 && { provider_calls }),
    ...(sources.length > 0 && { sources }),
  };
}

const textAndCalls = (parts: readonly AssistantPart[]) => ({
  content: textOf(parts),
  tool_calls: parts.flatMap((part) =>
    part.type === "tool_call" ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
  ),
});

function stepOf({ event }: JournalEntry, stepOfCall: ReadonlyMap<string, number>): number | null {
  if ("step_index" in event && event.type !== "run.recovered") return event.step_index;
  if (event.type === "tool.requested") return null; // Precedes the start of its step, whose input repeats it.
  if (!("tool_call_id" in event)) return null;
  return stepOfCall.get(event.tool_call_id) ?? null;
}

function markWaiting(steps: TraceStep[], state: RunState): void {
  for (const call of state.calls) {
    const step = steps[call.step_index];
    if (step && isAwaitingAnswer(call)) step.status = call.needs === "reconcile" ? "unknown" : "waiting";
  }
}

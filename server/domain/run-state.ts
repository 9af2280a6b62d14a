import type { HandoffFilter } from "./agent-snapshot.ts";
import { maskMessages } from "./mask-messages.ts";
import type { AssistantPart, ImageFacts, PromptMessage } from "./model-call.ts";
import type {
  AttachedDocument,
  ContextCompacted,
  Elicitation,
  ElicitationAnswer,
  FileFacts,
  GuardrailDecided,
  HandoffCompleted,
  JournalEntry,
  MemoryRetrieved,
  ModelAnswer,
  Needs,
  Preparation,
  RequiredAction,
  RequiredCall,
  RunCreated,
  RunError,
  RunEvent,
  RunUsage,
  StepRestarted,
  ToolCompleted,
  ToolError,
  ToolRequest,
} from "./run-event.ts";
import { type EarlierMessage, type MessageMedia, mediaOfMessage } from "./run-input.ts";
import { firstModel } from "./run-models.ts";
import { triggerOf } from "./run-trigger.ts";
import {
  afterCall,
  type HeldMessage,
  releaseHeld,
  type SteeredFinding,
  steeredFiles,
  takeSteered,
  withoutRecorded,
} from "./steering.ts";
import type { StepType } from "./step-kinds.ts";
import { stepKinds } from "./step-kinds.ts";
import { enterStatus } from "./timing.ts";
import { addChildRun, addModelCall, addToolResult, noUsage } from "./usage.ts";
import { emptyWorkspace, workspaceAfter } from "./workspace.ts";
import type { WorkspaceOwner } from "./workspace-limits.ts";
import type { Workspace, WorkspaceChange } from "./workspace-schema.ts";

export const runStatuses = [
  "queued",
  "in_progress",
  "requires_action",
  "paused",
  "completed",
  "failed",
  "cancelled",
] as const;
export type RunStatus = (typeof runStatuses)[number];

export type Message =
  | ({
      role: "user";
      id: string;
      at: number;
      content: string;
      /** It came while the run was under way. */
      steered?: true;
    } & MessageMedia)
  | {
      role: "assistant";
      id: string;
      at: number;
      parts: AssistantPart[];
      /** No run made it. */
      given?: true;
      /** The model that wrote it, by its full name. */
      model?: string;
      /** A message of the user ended it. */
      interrupted?: true;
      /** The agent that wrote it, if a handoff had changed the run's. */
      agent_id?: string;
    }
  | { role: "tool"; id: string; at: number; tool_call_id: string; given?: GivenResult };

/** Result of a call that no run made, sent along with the input. */
export interface GivenResult {
  tool: string;
  output: string;
  is_error: boolean;
  images?: ImageFacts[];
}

export type ToolCallStatus =
  | "running"
  | "awaiting_output"
  | "awaiting_approval"
  | "awaiting_authorization"
  | "awaiting_elicitation"
  | "completed"
  | "failed"
  | "rejected"
  | "cancelled"
  | "unknown";

export interface ToolCall extends ToolRequest {
  status: ToolCallStatus;
  output: unknown;
  error: ToolError | null;
  attempts: number;
  latency_ms: number | null;
  created_at: number;
  completed_at: number | null;
  /** True if a person approved it: it needs no second approval. */
  approved: boolean;
  submitted: boolean;
  /** Files that the call made. */
  files: FileFacts[];
  /** Pictures of the result that the model is shown. */
  images?: ImageFacts[];
  /** Questions of its MCP server that were answered, oldest first. */
  answered?: AnsweredElicitation[];
  /** Number of `tool.progress` of the call so far, which is limited; absent before the first. */
  progress_events?: number;
  /** The child run of an agent tool, and the calls that it waits for. */
  child: { run_id: string; agent_id: string; waits_for: RequiredCall[] } | null;
}

/** A question of an MCP server with its answer. */
export type AnsweredElicitation = Elicitation & { answer: ElicitationAnswer };

/** A step that has started and not ended. */
export interface OpenStep {
  step_index: number;
  step_type: StepType;
  turn_index: number;
  tool_call_id: string | null;
  attempt: number;
  /** `seq` of its newest start, which addresses its deltas. */
  anchor: number;
  /** The run's attempt that works on it: a lower one than the run's means that the process died during the step. */
  run_attempt: number;
  started_at: number;
  /** The model that a model call asks; null for other steps. */
  model: string | null;
}

/** A handoff of a run: from here on another agent answers. */
export interface Handoff {
  tool_call_id: string;
  from_agent_id: string;
  agent_id: string;
  filter: HandoffFilter;
  /** Name of the agent that handed over. */
  from_name: string;
  reason: string | null;
  /** Number of messages and of guardrail decisions before it. */
  messages: number;
  decisions: number;
  /** Compaction of the conversation before it. */
  compacted: RunProgress["compacted"];
}

export interface RunState extends RunProgress {
  run: RunCreated;
}

/** State before the first entry, which creates the run. */
export interface InitialState extends RunProgress {
  run: null;
}

/** Request of a pause. Steps that start after `seq` do not begin before the run goes on. */
interface PauseRequest {
  seq: number;
  at: number;
  reason: string | null;
}

interface RunProgress {
  seq: number;
  status: RunStatus;
  attempt: number;
  /** Recoveries since the last completed step: a run that repeatedly crashes the process fails. */
  stalls: number;
  created_at: number;
  /** The model that it asks now, by its full name. */
  model: string;
  /** Null while queued. */
  started_at: number | null;
  updated_at: number;
  ended_at: number | null;
  /** Start of the current status, and milliseconds of work before it; without the copied part of a fork. */
  status_since_ms: number;
  worked_ms: number;
  /** Initial queue position, until the run starts; runs before it may have started since. */
  queue_position: number | null;
  /** Time at which it began to wait for an action. */
  waiting_since: number | null;
  /** Number of steps so far: the index of the next one. */
  steps: number;
  turns: number;
  messages: Message[];
  calls: ToolCall[];
  open: OpenStep[];
  /** Final error of a model call or a compaction, until the run fails with it. */
  model_error: (RunError & { step_index: number }) | null;
  /** True if the provider broke off the last answer (`pause_turn`): the model is called again with it. */
  is_continued?: boolean;
  /** Request of a pause, until the run goes on; null if none. */
  pause: PauseRequest | null;
  /** Messages of the user that the open model call does not have; the next one does. */
  held?: HeldMessage[];
  /** Findings in messages of the user that have no decision in the journal yet. */
  unrecorded?: SteeredFinding[];
  /** Text of discarded attempts, until a later answer. */
  discarded: string | null;
  /** Guardrail decisions so far. */
  decisions: GuardrailDecided[];
  /** Error of a blocking guardrail, until the run fails with it. */
  blocked: RunError | null;
  /** Number of times the output was returned to the model because it did not fit `output_schema`. */
  repairs: number;
  /** Steps that remain before the first model call. */
  to_prepare: Preparation[];
  /** Earlier messages of its thread. */
  history: PromptMessage[];
  documents: AttachedDocument[];
  retrieved: Omit<MemoryRetrieved, "step_index" | "latency_ms"> | null;
  /** Newest compaction, which replaces earlier ones. `after_refusal` until the model has answered since. */
  compacted:
    | (Pick<ContextCompacted, "summary" | "left_out" | "tool_output_max_bytes"> & { after_refusal: boolean })
    | null;
  /** Changes of the agent that answers, in their order. */
  handoffs: Handoff[];
  /** Folders that its programs share; absent before the first program. */
  workspaces?: { [Owner in WorkspaceOwner]?: Workspace };
  required_action: RequiredAction | null;
  output: string | null;
  output_json: unknown;
  error: RunError | null;
  cancel_reason: string | null;
  usage: RunUsage;
}

export const initialState: InitialState = {
  run: null,
  seq: 0,
  status: "in_progress",
  attempt: 1,
  stalls: 0,
  created_at: 0,
  model: "",
  started_at: null,
  updated_at: 0,
  ended_at: null,
  status_since_ms: 0,
  worked_ms: 0,
  queue_position: null,
  waiting_since: null,
  steps: 0,
  turns: 0,
  messages: [],
  calls: [],
  open: [],
  model_error: null,
  pause: null,
  discarded: null,
  decisions: [],
  blocked: null,
  repairs: 0,
  to_prepare: [],
  history: [],
  documents: [],
  retrieved: null,
  compacted: null,
  handoffs: [],
  required_action: null,
  output: null,
  output_json: null,
  error: null,
  cancel_reason: null,
  usage: noUsage,
};

export const isOver = (status: RunStatus): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

export const isResolved = ({ status, needs }: Pick<ToolCall, "status" | "needs">): boolean =>
  needs === null && status !== "running";

/** Ways to update a state: set fields, append to a list, or replace an item. */
interface Changing {
  moved(state: RunState | InitialState, to: Partial<RunState>): RunState | InitialState;
  added<T>(list: T[], item: T): T[];
  changed<T>(list: T[], index: number, item: T): T[];
}

const copied: Changing = {
  moved: (state, to) => Object.assign({ ...state }, to),
  added: (list, item) => [...list, item],
  changed: (list, index, item) => list.with(index, item),
};

/**
 * Updates in place, for a state that no other code holds: copies would slow down a fold of 20,000 entries ten times.
 */
const inPlace: Changing = {
  moved: (state, to) => Object.assign(state, to),
  added(list, item) {
    list.push(item);
    return list;
  },
  changed(list, index, item) {
    list[index] = item;
    return list;
  },
};

/** The only place where a run changes. Recovery, the trace and the live view fold it over the journal. */
export const apply = (before: RunState | InitialState, entry: JournalEntry): RunState => changed(before, entry, copied);

function changed(before: RunState | InitialState, entry: JournalEntry, changing: Changing): RunState {
  const { seq, at } = entry;
  const to = change(before, entry, changing);
  to.seq = seq;
  to.updated_at = at;
  const { status = before.status, run = before.run } = to;
  if (seq === 1) Object.assign(to, enterStatus({ ...before, status_since_ms: at }, status, at));
  else if (status !== before.status) Object.assign(to, enterStatus(before, status, at));
  // Copied entries cost this run nothing, and a fork starts where its copied part ends.
  if (run && seq <= (run.recorded_to ?? 0)) {
    to.usage = before.usage;
    to.model = firstModel(run, to.handoffs ?? before.handoffs);
    if (triggerOf(run) === "fork") Object.assign(to, { created_at: at, started_at: at, status_since_ms: at });
  }
  return requireRun(changing.moved(before, to));
}

/** Returns the fields that an entry changes. */
function change(state: RunProgress, { seq, at, event }: JournalEntry, lists: Changing): Partial<RunState> {
  if (seq !== state.seq + 1) throw new Error(`Entry ${seq} does not follow entry ${state.seq}.`);
  if (isOver(state.status)) throw new Error(`${event.type} after the run was ${state.status}.`);
  switch (event.type) {
    case "run.created":
      return {
        run: event,
        model: event.model,
        to_prepare: event.prepare ?? [],
        created_at: at,
        started_at: at,
        messages: [
          ...(event.earlier ?? []).map((message) => earlierMessage(message, at)),
          userMessage(event.message_id, at, event.input, event),
        ],
      };
    case "run.queued":
      return { status: "queued", started_at: null, queue_position: event.queue_position };
    case "run.started":
      return { status: "in_progress", started_at: at, queue_position: null };
    case "run.requires_action": {
      const { required_action } = event;
      // A partial answer does not restart the wait.
      return { status: "requires_action", required_action, waiting_since: state.waiting_since ?? at };
    }
    case "run.resumed":
      return { status: "in_progress", required_action: null, waiting_since: null, pause: null };
    case "run.pause_requested":
      return { pause: { seq, at, reason: event.reason } };
    case "run.paused":
      return { status: "paused", required_action: null, waiting_since: null };
    case "run.pause_cancelled":
      return { pause: null };
    case "run.recovered":
      // A clean stop counts as no crash: three deployments during one long call are no crash loop.
      return { attempt: event.attempt, stalls: event.clean ? state.stalls : state.stalls + 1 };
    case "run.completed":
      return { ...ended(at), status: "completed", output: event.output, output_json: event.output_json };
    case "run.failed":
      return {
        ...releaseHeld(state, lists.added),
        ...ended(at),
        status: "failed",
        error: event.error,
        output: event.output,
      };
    case "run.cancelled":
      return {
        ...releaseHeld(state, lists.added),
        ...ended(at),
        status: "cancelled",
        cancel_reason: event.reason,
        output: event.output,
      };
    case "run.steered":
      return takeSteered(state, event, at, lists.added);
    case "step.started": {
      const { step_index, step_type, turn_index, tool_call_id, attempt, name } = event;
      const step = {
        step_index,
        step_type,
        turn_index,
        tool_call_id,
        attempt,
        anchor: seq,
        run_attempt: state.attempt,
        started_at: at,
        model: step_type === "model_call" ? name : null,
      };
      return {
        steps: Math.max(state.steps, step_index + 1),
        turns: step_type === "model_call" ? state.turns + 1 : state.turns,
        open: [...state.open, step],
        usage: stepKinds[step_type].isCall ? { ...state.usage, tool_calls: state.usage.tool_calls + 1 } : state.usage,
        calls: changeCall(state, tool_call_id, lists, (call) => ({ ...call, attempts: attempt })),
      };
    }
    case "step.restarted": {
      const { step_index, spent, said = state.discarded, model = state.model } = event;
      const again = (step: OpenStep) =>
        step.step_index === step_index ? restarted(step, event, { anchor: seq, run_attempt: state.attempt }) : step;
      const usage = spent ? addModelCall(state.usage, spent) : state.usage;
      return { open: state.open.map(again), usage, discarded: said, model };
    }
    case "step.completed": {
      const open = state.open.filter((step) => step.step_index !== event.step_index);
      const next: Partial<RunProgress> = { open, stalls: 0 };
      const step = state.open.find((one) => one.step_index === event.step_index);
      const by = step?.model ?? state.model;
      if (event.answer) Object.assign(next, answered(state, event.answer, by, at, event.status === "completed", lists));
      if (event.answer && event.status === "completed" && state.compacted)
        next.compacted = { ...state.compacted, after_refusal: false };
      const { asksModel } = stepKinds[event.step_type];
      if (event.error && asksModel && event.status === "failed") {
        const { code, message, retryable } = event.error;
        const error = { type: "run_error", code, message, retryable, step_index: event.step_index } as RunError;
        next.model_error = error as RunState["model_error"];
      }
      if (asksModel) Object.assign(next, afterCall({ ...state, ...next }, event.status === "cancelled", lists.added));
      return next;
    }
    case "tool.requested":
      return requested(state, event.call, at, lists);
    case "tool.decided": {
      const { needs } = event;
      const decide = (call: ToolCall): ToolCall => ({
        ...(event.elicitation ? withAnswer(call, event.elicitation) : call),
        needs,
        approved: event.decision === "approve" || call.approved,
        status: waiting(needs),
        arguments: event.arguments ?? call.arguments,
      });
      return { open: intended(state, event), calls: changeCall(state, event.tool_call_id, lists, decide) };
    }
    case "tool.authorized": {
      const go = ({ authorization: _, ...call }: ToolCall): ToolCall => ({ ...call, needs: null, status: "running" });
      return { open: intended(state, event), calls: changeCall(state, event.tool_call_id, lists, go) };
    }
    case "tool.progress": {
      const count = (call: ToolCall): ToolCall => ({ ...call, progress_events: (call.progress_events ?? 0) + 1 });
      return { calls: changeCall(state, event.tool_call_id, lists, count) };
    }
    case "tool.completed":
      return {
        usage: addToolResult(state.usage, event),
        calls: changeCall(state, event.tool_call_id, lists, (call) => settle(call, event, at)),
        ...(event.workspace && { workspaces: changedWorkspaces(state.workspaces, event.workspace) }),
        messages: lists.added(state.messages, {
          role: "tool",
          id: event.message_id,
          at,
          tool_call_id: event.tool_call_id,
        }),
      };
    case "subagent.started": {
      const { run_id, agent_id } = event;
      const begin = (call: ToolCall): ToolCall => ({ ...call, child: { run_id, agent_id, waits_for: [] } });
      return { calls: changeCall(state, event.tool_call_id, lists, begin) };
    }
    case "subagent.waiting":
      return { calls: changeCall(state, event.tool_call_id, lists, (call) => waitFor(call, event.calls)) };
    case "subagent.resumed":
      return { calls: changeCall(state, event.tool_call_id, lists, (call) => waitFor(call, [])) };
    case "handoff.completed":
      return handedOver(state, event);
    case "guardrail.decided": {
      const { type: _, ...decision } = event;
      return {
        steps: Math.max(state.steps, event.step_index + 1),
        decisions: lists.added(state.decisions, decision),
        blocked: event.verdict === "blocked" ? (state.blocked ?? blockedError(event)) : state.blocked,
        usage: event.spent ? addModelCall(state.usage, event.spent) : state.usage,
        ...(event.message_id !== undefined && withoutRecorded(state, event)),
      };
    }
    case "output.rejected":
      return {
        repairs: state.repairs + 1,
        messages: lists.added(state.messages, {
          role: "user",
          id: event.message_id,
          at,
          content: event.content,
        }),
      };
    case "history.loaded":
      return { history: event.messages, to_prepare: afterHistory(event.messages, without(state, "history")) };
    case "documents.attached":
      return attached(state, event.documents);
    case "memory.retrieved": {
      const { query, stores, matches, failures } = event;
      const usage = event.usage ? addChildRun(state.usage, event.usage) : state.usage;
      const retrieved = { query, stores, matches, failures };
      return { retrieved, usage, to_prepare: without(state, "retrieval") };
    }
    case "context.compacted": {
      const { summary, left_out, spent } = event;
      const usage = spent ? addModelCall(state.usage, spent) : state.usage;
      const after_refusal = state.model_error !== null;
      const compacted: RunState["compacted"] = { summary, left_out, after_refusal };
      const outputMax = event.tool_output_max_bytes ?? state.compacted?.tool_output_max_bytes;
      if (outputMax !== undefined) compacted.tool_output_max_bytes = outputMax;
      return { compacted, model_error: null, usage };
    }
    default:
      return event satisfies never;
  }
}

/** Returns the open steps. The call's own step belongs to this attempt from now on, because the call is made again. */
const intended = (state: RunProgress, { tool_call_id }: { tool_call_id: string }): OpenStep[] =>
  state.open.map((step) => (step.tool_call_id === tool_call_id ? { ...step, run_attempt: state.attempt } : step));

/** Adds documents. A message that came while they were read may have more. */
function attached(state: RunProgress, added: AttachedDocument[]): Partial<RunProgress> {
  const documents = [...state.documents, ...added];
  const isMore = steeredFiles(state.messages).some((id) => !documents.some(({ file_id }) => file_id === id));
  return { documents, to_prepare: isMore ? state.to_prepare : without(state, "documents") };
}

/** Returns the state in which another agent goes on. Its prompt begins with what the handoff lets through. */
function handedOver(state: RunProgress, event: HandoffCompleted): Partial<RunState> {
  const { run, messages } = requireRun(state as RunState | InitialState);
  const { tool_call_id, from_agent_id, from_name, agent_id, filter, reason } = event;
  const { max_turns, budget = run.budget } = event;
  const limited = { ...run, max_turns, ...(budget !== undefined && { budget }) };
  const place = { messages: messages.length, decisions: state.decisions.length, compacted: state.compacted };
  const handoffs = [...state.handoffs, { tool_call_id, from_agent_id, from_name, agent_id, filter, reason, ...place }];
  return {
    ...maskMessages({ run: limited, messages }, event, earlierMessage),
    handoffs,
    model: firstModel(run, handoffs),
    to_prepare: event.prepare ?? [],
    // The next agent's guardrails read the documents, too.
    ...(event.prepare?.includes("documents") && { documents: [] }),
    retrieved: null,
    compacted: null,
    repairs: 0,
  };
}

/** Converts a message that was sent along to a run's message. */
export function earlierMessage(message: EarlierMessage, at: number): Message {
  const { id, role, content, images, tool_calls = [], tool_call_id = "", tool = "", is_error = false } = message;
  if (role === "user") return userMessage(id, at, content, message);
  const given = { tool, output: content, is_error, ...(images && { images }) };
  if (role === "tool") return { role, id, at, tool_call_id, given };
  const calls = tool_calls.map(
    (call): AssistantPart => ({ ...call, type: "tool_call", arguments: JSON.stringify(call.arguments) }),
  );
  const text: AssistantPart[] = content === "" && calls.length > 0 ? [] : [{ type: "text", text: content }];
  return { role, id, at, parts: [...text, ...calls], given: true };
}

const userMessage = (id: string, at: number, content: string, media: MessageMedia): Message => ({
  role: "user",
  id,
  at,
  content,
  ...mediaOfMessage(media),
});

/**
 * Returns the remaining preparations: documents of earlier messages are given to the model again. Lists read records
 * without their history.
 */
const afterHistory = (history: readonly PromptMessage[] | undefined, rest: Preparation[]): Preparation[] =>
  rest.includes("documents") || !history?.some((message) => message.role === "user" && message.files)
    ? rest
    : ["documents", ...rest];

/** Returns the messages from the run's input on, because earlier ones are no answers of this run. */
export const ownMessages = ({ run, messages }: RunState): Message[] => messages.slice(run.earlier?.length ?? 0);

const without = ({ to_prepare }: RunProgress, done: Preparation): Preparation[] =>
  to_prepare.filter((one) => one !== done);

const waitFor = (call: ToolCall, waits_for: RequiredCall[]): ToolCall => ({
  ...call,
  child: call.child && { ...call.child, waits_for },
});

const blockedError = ({ guardrail, message, step_index }: GuardrailDecided): RunError => ({
  type: "run_error",
  code: "guardrail_blocked",
  message,
  step_index,
  retryable: false,
  guardrail,
});

/** Throws if there is neither an entry nor a run. */
export function fold(entries: Iterable<JournalEntry>, from?: RunState | InitialState): RunState {
  const folding = createFold(from);
  for (const entry of entries) folding.add(entry);
  return requireRun(folding.state);
}

export function requireRun(state: RunState | InitialState): RunState {
  if (state.run === null) throw new Error("A journal begins with run.created.");
  return state;
}

export type Fold = ReturnType<typeof createFold>;

/** Folds entry by entry, each at constant cost. */
export function createFold(from: RunState | InitialState = initialState) {
  let state = withOwnLists(from);
  return {
    add(entry: JournalEntry): RunState {
      state = changed(state, entry, inPlace);
      return state;
    },
    /** Valid until the next `add`. */
    get state(): RunState | InitialState {
      return state;
    },
  };
}

/** Copies the lists, so that in-place updates do not change the original. */
const withOwnLists = (state: RunState | InitialState): RunState | InitialState => ({
  ...state,
  messages: [...state.messages],
  calls: [...state.calls],
  decisions: [...state.decisions],
});

/** Returns the state after events that are not journaled yet. */
export function applyAll(state: RunState | InitialState, events: readonly RunEvent[], at: number): RunState {
  let next = state;
  for (const event of events) next = apply(next, { seq: next.seq + 1, at, event });
  return requireRun(next);
}

/** Returns the open step of a type of which only one can be open. */
export const openStep = ({ open }: Pick<RunState, "open">, type: StepType): OpenStep | undefined =>
  open.find(({ step_type }) => step_type === type);

/** Starts a step over, perhaps with another model. */
const restarted = (
  step: OpenStep,
  { attempt, model }: StepRestarted,
  start: Pick<OpenStep, "anchor" | "run_attempt">,
): OpenStep => ({ ...step, attempt, ...start, model: step.model === null ? null : (model ?? step.model) });

const ended = (at: number) => ({
  ended_at: at,
  queue_position: null,
  required_action: null,
  waiting_since: null,
  pause: null,
  open: [],
});

// Keep an empty finished answer, because it ends the run; without it the model would be called again.
function answered(
  state: RunProgress,
  answer: ModelAnswer,
  model: string,
  at: number,
  finished: boolean,
  lists: Changing,
): Partial<RunProgress> {
  const usage = addModelCall(state.usage, answer);
  if (answer.parts.length === 0 && !finished) return { usage };
  const { interrupted } = answer;
  const agent_id = state.handoffs.at(-1)?.agent_id;
  const message: Message = {
    role: "assistant",
    id: answer.message_id,
    at,
    parts: answer.parts,
    model,
    ...(interrupted && { interrupted }),
    ...(agent_id !== undefined && { agent_id }),
  };
  const isNews = finished || answer.parts.some((part) => part.type === "text" && part.text !== "");
  const isContinued = finished && answer.finish === "pause";
  return {
    usage,
    messages: lists.added(state.messages, message),
    discarded: isNews ? null : state.discarded,
    ...((isContinued || state.is_continued) && { is_continued: isContinued }),
  };
}

const waiting = (needs: Needs | null): ToolCallStatus =>
  needs === null
    ? "running"
    : (
        {
          output: "awaiting_output",
          approval: "awaiting_approval",
          reconcile: "unknown",
          authorization: "awaiting_authorization",
          elicitation: "awaiting_elicitation",
        } as const
      )[needs];

/**
 * Requests a call. A repeated request (unknown outcome, missing consent) keeps its position and arguments. A call that
 * waits for a consent was not made, so its approval still holds.
 */
function requested(state: RunProgress, request: ToolRequest, at: number, lists: Changing): Partial<RunProgress> {
  const { id, needs, step_index, authorization, elicitation } = request;
  if (step_index < state.steps && state.calls.some((call) => call.id === id)) {
    const again = ({ authorization: _, elicitation: __, ...call }: ToolCall): ToolCall => ({
      ...call,
      needs,
      // A question comes during the call, so it needs no second approval.
      approved: call.approved && (needs === "authorization" || needs === "elicitation"),
      status: waiting(needs),
      ...(authorization && { authorization }),
      ...(elicitation && { elicitation }),
    });
    return { calls: changeCall(state, id, lists, again) };
  }
  const call: ToolCall = {
    ...request,
    status: waiting(needs),
    output: null,
    error: null,
    attempts: 0,
    latency_ms: null,
    created_at: at,
    completed_at: null,
    approved: false,
    submitted: false,
    files: [],
    child: null,
  };
  return { calls: lists.added(state.calls, call), steps: Math.max(state.steps, step_index + 1) };
}

/** Moves the open question to those that are answered. */
const withAnswer = ({ elicitation, ...call }: ToolCall, answer: ElicitationAnswer): ToolCall =>
  elicitation ? { ...call, answered: [...(call.answered ?? []), { ...elicitation, answer }] } : call;

function changeCall(
  { calls }: RunProgress,
  id: string | null,
  lists: Changing,
  change: (call: ToolCall) => ToolCall,
): ToolCall[] {
  // The call is one of the newest, so searching from the end is fast.
  const index = id === null ? -1 : calls.findLastIndex((call) => call.id === id);
  const call = calls[index];
  return call ? lists.changed(calls, index, change(call)) : calls;
}

const changedWorkspaces = (
  workspaces: RunProgress["workspaces"],
  change: WorkspaceChange,
): NonNullable<RunProgress["workspaces"]> => ({
  ...workspaces,
  [change.shared_by]: workspaceAfter(workspaces?.[change.shared_by] ?? emptyWorkspace, change),
});

function settle(
  call: ToolCall,
  { status, output, error, latency_ms, attempts, submitted, files = [], images }: ToolCompleted,
  at: number,
): ToolCall {
  const result = { status, output, error, latency_ms, attempts, submitted, files, ...(images && { images }) };
  return { ...call, needs: null, ...result, completed_at: at };
}

/** Returns the calls without a result. */
export const pendingCalls = (state: RunState): ToolCall[] => state.calls.filter((call) => !isResolved(call));

/** True if a client or person has to answer before the call continues: the call itself, or one of its child run. */
export const isAwaitingAnswer = ({ needs, child }: Pick<ToolCall, "needs" | "child">): boolean =>
  needs !== null || (child !== null && child.waits_for.length > 0);

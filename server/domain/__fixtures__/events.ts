import type { AssistantPart } from "../model-call.ts";
import type {
  AttachedDocument,
  ContextCompacted,
  GuardrailDecided,
  JournalEntry,
  MemoryRetrieved,
  ModelAnswer,
  Needs,
  RetrievedPassage,
  RunCreated,
  RunEvent,
  StepCompleted,
  StepRestarted,
  StepStarted,
  ToolCompleted,
  ToolRequest,
} from "../run-event.ts";
import { fold, type RunState } from "../run-state.ts";

/** Events of a run, with as few fields as tests need. */
export type Of<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;

/** Time of the first event of these journals; each later one is 10 ms after the previous. */
export const begin = Date.UTC(2026, 0, 1);

export const entriesOf = (...events: RunEvent[]): JournalEntry[] =>
  events.map((event, index) => ({ seq: index + 1, at: begin + index * 10, event }));

export const stateOf = (...events: RunEvent[]): RunState => fold(entriesOf(...events));

export const created = (more: Partial<RunCreated> = {}): Of<"run.created"> => ({
  type: "run.created",
  run_id: "run_0000000000000000000000000a",
  project_id: "proj_1",
  environment: "test",
  agent_id: "agt_1",
  agent_version: 3,
  agent_hash: "hash",
  model: "test/script",
  input: "Hello",
  message_id: "msg_in",
  max_turns: 3,
  timeout_ms: 60_000,
  action_timeout_ms: 30_000,
  on_disconnect: "continue",
  thread_id: null,
  session_id: null,
  user_id: null,
  file_ids: [],
  parent_run_id: null,
  metadata: {},
  request_id: "req_1",
  ...more,
});

export const started = (step_index: number, more: Partial<StepStarted> = {}): Of<"step.started"> => ({
  type: "step.started",
  step_id: `stp_${step_index}`,
  step_index,
  step_type: "model_call",
  turn_index: 0,
  name: "test/script",
  attempt: 1,
  tool_call_id: null,
  input_hash: null,
  ...more,
});

export const restarted = (
  step_index: number,
  discards: number,
  more: Partial<StepRestarted> = {},
): Of<"step.restarted"> => ({
  type: "step.restarted",
  step_index,
  step_type: "model_call",
  attempt: 2,
  discards,
  reason: { code: "process_restarted", message: "The process ended." },
  delay_ms: 0,
  spent: null,
  ...more,
});

export const usage = { input_tokens: 10, output_tokens: 4, cached_input_tokens: 2, reasoning_tokens: 1 };

export const answer = (parts: AssistantPart[], more: Partial<ModelAnswer> = {}): ModelAnswer => ({
  message_id: "msg_answer",
  parts,
  deltas: parts.flatMap((part, index) => (part.type === "tool_call" ? [] : [index, part.text.length, 5])),
  finish: "stop",
  time_to_first_token_ms: 5,
  usage,
  cost_usd: 0.5,
  estimated: false,
  ...more,
});

export const completed = (step_index: number, more: Partial<StepCompleted> = {}): Of<"step.completed"> => ({
  type: "step.completed",
  step_index,
  step_type: "model_call",
  status: "completed",
  latency_ms: 7,
  error: null,
  answer: null,
  ...more,
});

export const text = (value: string): AssistantPart => ({ type: "text", text: value });
export const asks = (id: string, args: object = {}): AssistantPart => ({
  type: "tool_call",
  id,
  name: `tool_of_${id}`,
  arguments: JSON.stringify(args),
});

export const requested = (
  id: string,
  step_index: number,
  needs: Needs | null = null,
  more: Partial<ToolRequest> = {},
): Of<"tool.requested"> => ({
  type: "tool.requested",
  call: {
    id,
    step_index,
    turn_index: 0,
    tool_id: `tool_${id}`,
    tool: `tool_of_${id}`,
    type: needs === "output" ? "client" : "http",
    arguments: { city: id },
    needs,
    ...more,
  },
});

export const toolStarted = (id: string, step_index: number): Of<"step.started"> =>
  started(step_index, { step_type: "tool_call", name: `tool_of_${id}`, tool_call_id: id });

export const toolCompleted = (
  id: string,
  step_index: number,
  more: Partial<ToolCompleted> = {},
): Of<"tool.completed"> => ({
  type: "tool.completed",
  tool_call_id: id,
  step_index,
  tool: `tool_of_${id}`,
  status: "completed",
  output: { ok: true },
  error: null,
  latency_ms: 9,
  attempts: 1,
  message_id: `msg_${id}`,
  submitted: false,
  ...more,
});

export const guardrailDecided = (
  step_index: number,
  more: Partial<GuardrailDecided> = {},
): Of<"guardrail.decided"> => ({
  type: "guardrail.decided",
  step_id: `stp_${step_index}`,
  step_index,
  turn_index: 0,
  guardrail: { index: 0, type: "regex", on: "output" },
  verdict: "flagged",
  tool_call_id: null,
  message: "It matches.",
  matches: 1,
  latency_ms: 0,
  spent: null,
  ...more,
});

export const passage = (more: Partial<RetrievedPassage> = {}): RetrievedPassage => ({
  memory_id: "mem_1",
  entry_id: "ment_1",
  text: "The filter is changed every six months.",
  score: 0.7,
  file_id: "file_1",
  filename: "manual.pdf",
  chunk_index: 4,
  page: 12,
  heading: "Maintenance",
  ...more,
});

export const retrieved = (step_index: number, more: Partial<MemoryRetrieved> = {}): Of<"memory.retrieved"> => ({
  type: "memory.retrieved",
  step_index,
  query: "Hello",
  stores: [{ memory_id: "mem_1", name: "Manuals" }],
  matches: [passage()],
  failures: [],
  latency_ms: 5,
  ...more,
});

export const attached = (more: Partial<AttachedDocument> = {}): AttachedDocument => ({
  file_id: "file_1",
  filename: "notes.txt",
  mime_type: "text/plain",
  sha256: "0".repeat(64),
  text: "Fourteen chars",
  image: false,
  note: null,
  ...more,
});

export const compacted = (step_index: number, more: Partial<ContextCompacted> = {}): Of<"context.compacted"> => ({
  type: "context.compacted",
  step_index,
  strategy: "compact",
  summary: "They greeted.",
  left_out: 2,
  tokens_before: 900,
  tokens_after: 300,
  latency_ms: 6,
  spent: null,
  ...more,
});

/** Result of a call and the end of its step. */
export const toolDone = (id: string, step_index: number, more: Partial<ToolCompleted> = {}): RunEvent[] => [
  toolCompleted(id, step_index, more),
  completed(step_index, { step_type: "tool_call" }),
];

/** A model call that requests tools, and those requests. */
export const turnWithCalls = (
  ...calls: [id: string, needs: Needs | null, more?: Partial<ToolRequest>][]
): RunEvent[] => [
  created(),
  started(0),
  completed(0, { answer: answer(calls.map(([id]) => asks(id))) }),
  ...calls.flatMap(([id, needs, more], index) => [requested(id, index + 1, needs, more), toolStarted(id, index + 1)]),
];

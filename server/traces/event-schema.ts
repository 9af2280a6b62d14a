import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { guardrailPoints, guardrailTypes } from "../core/agent-snapshot.ts";
import { capsuleLimits } from "../core/capsule-format.ts";
import { runErrorCodes } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import {
  divergenceKinds,
  guardrailVerdicts,
  preparations,
  type RunEvent,
  type RunEventType,
  replayAgents,
  replayModes,
  stepTypes,
} from "../core/run-event.ts";
import { inputRoles } from "../core/run-input.ts";
import { environments } from "../core/scope.ts";
import { Budget, Metadata } from "../http/schemas.ts";
import { oneOf } from "../wire/schema.ts";
import {
  Count,
  CountOrNull,
  exact,
  Flag,
  Hash,
  Id,
  index,
  Json,
  Milliseconds,
  Money,
  nullable,
  Short,
  Text,
  True,
} from "./foreign-fields.ts";

const Step = index(capsuleLimits.steps);
/** -1 is the start. */
const StepOrStart = Type.Integer({ minimum: -1, maximum: capsuleLimits.steps });
const many = <T extends TSchema>(schema: T, maxItems = 1000) => Type.Array(schema, { maxItems });
const optional = Type.Optional;
const Any = Type.Unknown();

const Usage = exact({
  input_tokens: CountOrNull,
  output_tokens: CountOrNull,
  total_tokens: CountOrNull,
  cached_input_tokens: CountOrNull,
  reasoning_tokens: CountOrNull,
  model_calls: Count,
  tool_calls: Count,
  cost_usd: Money,
  estimated: Flag,
});

const spend = {
  usage: exact({
    input_tokens: CountOrNull,
    output_tokens: CountOrNull,
    cached_input_tokens: CountOrNull,
    reasoning_tokens: CountOrNull,
  }),
  cost_usd: Money,
  estimated: Flag,
};
const Spend = exact(spend);

const Price = exact({
  input: Type.Number({ minimum: 0 }),
  cached_input: Type.Number({ minimum: 0 }),
  output: Type.Number({ minimum: 0 }),
  priced_up_to: optional(Count),
  max_output_tokens: optional(Count),
  as_of: nullable(Short),
  source: oneOf(["built_in", "operator"] as const),
});

const Part = Type.Union([
  exact({ type: Type.Literal("text"), text: Text, metadata: optional(Json) }),
  exact({ type: Type.Literal("reasoning"), text: Text, metadata: optional(Json) }),
  exact({ type: Type.Literal("tool_call"), id: Id, name: Short, arguments: Text, metadata: optional(Json) }),
]);

const PromptMessage = Type.Union([
  exact({ role: Type.Literal("system"), content: Text }),
  exact({
    role: Type.Literal("user"),
    content: Text,
    images: optional(many(exact({ file_id: Id, mime_type: Short, sha256: Hash, data: optional(Text) }))),
  }),
  exact({ role: Type.Literal("assistant"), parts: many(Part) }),
  exact({ role: Type.Literal("tool"), call_id: Id, tool: Short, output: Text, is_error: Flag }),
]);

const Answer = exact({
  ...spend,
  message_id: Id,
  parts: many(Part),
  deltas: Type.Array(Milliseconds, { maxItems: 1_000_000 }),
  finish: nullable(oneOf(["stop", "tool_calls", "length", "content_filter", "other"] as const)),
  time_to_first_token_ms: nullable(Milliseconds),
});

const ToolError = exact({ code: Short, message: Text });
const Needs = oneOf(["output", "approval", "reconcile"] as const);
const ToolRequest = exact({
  id: Id,
  step_index: Step,
  turn_index: Step,
  tool_id: nullable(Id),
  tool: Short,
  type: Short,
  arguments: Json,
  needs: nullable(Needs),
  recorded: optional(StepOrStart),
});
const Decider = exact({ type: Short, id: nullable(Short) });
const RequiredCall = exact({
  id: Id,
  tool_id: nullable(Id),
  tool: Short,
  arguments: Json,
  needs: Needs,
  expires_at: Short,
  run_id: optional(Id),
});
const callStatuses = ["completed", "failed", "rejected", "cancelled", "unknown"] as const;
const Files = many(exact({ id: Id, filename: Short, mime_type: Short, bytes: Count, sha256: Hash }));
const Guardrail = exact({ index: Count, type: oneOf(guardrailTypes), on: oneOf(guardrailPoints) });

const Divergence = exact({
  step_index: StepOrStart,
  kind: oneOf(divergenceKinds),
  expected_hash: Hash,
  actual_hash: Hash,
  message: Text,
  expected: optional(Any),
  actual: optional(Any),
});

const RunError = exact({
  type: Type.Literal("run_error"),
  code: oneOf(runErrorCodes),
  message: Text,
  step_index: nullable(StepOrStart),
  retryable: Flag,
  guardrail: optional(Guardrail),
  divergence: optional(Divergence),
});

const Passage = exact({
  memory_id: Id,
  entry_id: Id,
  text: Text,
  score: Type.Number(),
  file_id: nullable(Id),
  filename: nullable(Short),
  chunk_index: Count,
  page: CountOrNull,
  heading: nullable(Text),
});

const Document = exact({
  file_id: Id,
  filename: Short,
  mime_type: Short,
  sha256: Hash,
  text: nullable(Text),
  image: Flag,
  note: nullable(Text),
});

const is = <const T extends RunEventType>(type: T) => ({ type: Type.Literal(type) });
const Seq = Type.Integer({ minimum: 0, maximum: capsuleLimits.entries });

/** Each kind of entry, exactly as this version knows it: what is read from elsewhere is one of these, or refused. */
export const eventSchemas = {
  "run.created": exact({
    ...is("run.created"),
    run_id: Id,
    project_id: Id,
    environment: oneOf(environments),
    agent_id: Id,
    agent_version: Count,
    agent_hash: Hash,
    model: Type.String({ maxLength: 300 }),
    input: Text,
    message_id: Id,
    earlier: optional(many(exact({ id: Id, role: oneOf(inputRoles), content: Text }), limits.input_messages)),
    max_turns: Count,
    timeout_ms: Count,
    action_timeout_ms: Count,
    on_disconnect: oneOf(["continue", "cancel"] as const),
    thread_id: nullable(Short),
    session_id: nullable(Short),
    user_id: nullable(Short),
    file_ids: many(Id, 100),
    parent_run_id: nullable(Id),
    parent_call_id: optional(Id),
    depth: optional(Type.Integer({ minimum: 0, maximum: 100 })),
    budget: optional(nullable(Type.Composite([Budget], { additionalProperties: false }))),
    price: optional(nullable(Price)),
    metadata: Metadata,
    request_id: nullable(Short),
    forked_from: optional(exact({ run_id: Id, step_index: StepOrStart })),
    replay_of: optional(Id),
    replay: optional(
      exact({
        mode: oneOf(replayModes),
        agent: oneOf(replayAgents),
        agent_version: Count,
        divergences: many(Divergence, capsuleLimits.entries),
        first_divergence: nullable(Divergence),
        matched_steps: Count,
        model_calls: Type.Literal(0),
        tool_calls: Type.Literal(0),
      }),
    ),
    imported: optional(True),
    foreign_agent: optional(True),
    recorded_to: optional(Seq),
    forked_to: optional(Seq),
    recorded: optional(
      exact({
        mode: oneOf(["recorded_then_live", "recorded_only"] as const),
        calls: many(
          exact({
            tool: Short,
            arguments: Json,
            status: oneOf(callStatuses),
            output: Any,
            error: nullable(ToolError),
          }),
          capsuleLimits.steps,
        ),
      }),
    ),
    prepare: optional(many(oneOf(preparations), 3)),
    context_window: optional(CountOrNull),
    queued: optional(True),
  }),
  "run.queued": exact({ ...is("run.queued"), queue_position: Count }),
  "run.started": exact(is("run.started")),
  "run.requires_action": exact({
    ...is("run.requires_action"),
    required_action: exact({
      type: Type.Literal("submit_tool_outputs"),
      submit_tool_outputs: exact({ tool_calls: many(RequiredCall) }),
    }),
  }),
  "run.resumed": exact(is("run.resumed")),
  "run.recovered": exact({
    ...is("run.recovered"),
    attempt: Count,
    step_index: nullable(Step),
    clean: optional(Flag),
  }),
  "run.completed": exact({ ...is("run.completed"), output: nullable(Text), output_json: Any, usage: Usage }),
  "run.failed": exact({ ...is("run.failed"), error: RunError, output: nullable(Text), usage: Usage }),
  "run.cancelled": exact({
    ...is("run.cancelled"),
    reason: nullable(Text),
    output: nullable(Text),
    usage: Usage,
  }),
  "step.started": exact({
    ...is("step.started"),
    step_id: Id,
    step_index: Step,
    step_type: oneOf(stepTypes),
    turn_index: Step,
    name: Short,
    attempt: Count,
    tool_call_id: nullable(Id),
    input_hash: nullable(Hash),
  }),
  "step.restarted": exact({
    ...is("step.restarted"),
    step_index: Step,
    step_type: oneOf(stepTypes),
    attempt: Count,
    discards: Seq,
    reason: nullable(ToolError),
    delay_ms: Milliseconds,
    spent: nullable(Spend),
    said: optional(Text),
  }),
  "step.completed": exact({
    ...is("step.completed"),
    step_index: Step,
    step_type: oneOf(stepTypes),
    status: oneOf(["completed", "failed", "cancelled"] as const),
    latency_ms: Milliseconds,
    error: nullable(exact({ code: Short, message: Text, retryable: Flag })),
    answer: nullable(Answer),
  }),
  "tool.requested": exact({ ...is("tool.requested"), call: ToolRequest }),
  "tool.decided": exact({
    ...is("tool.decided"),
    tool_call_id: Id,
    decision: oneOf(["approve", "reject"] as const),
    reason: nullable(Text),
    arguments: nullable(Json),
    by: optional(Decider),
    needs: nullable(Needs),
  }),
  "tool.completed": exact({
    ...is("tool.completed"),
    tool_call_id: Id,
    step_index: Step,
    tool: Short,
    status: oneOf(callStatuses),
    output: Any,
    error: nullable(ToolError),
    latency_ms: Milliseconds,
    attempts: Count,
    message_id: Id,
    recorded: optional(True),
    refused: optional(True),
    submitted: Flag,
    by: optional(Decider),
    files: optional(Files),
    usage: optional(Usage),
  }),
  "subagent.started": exact({ ...is("subagent.started"), tool_call_id: Id, run_id: Id, agent_id: Id }),
  "subagent.waiting": exact({ ...is("subagent.waiting"), tool_call_id: Id, calls: many(RequiredCall) }),
  "subagent.resumed": exact({ ...is("subagent.resumed"), tool_call_id: Id }),
  "guardrail.decided": exact({
    ...is("guardrail.decided"),
    step_id: Id,
    step_index: Step,
    turn_index: Step,
    guardrail: Guardrail,
    verdict: oneOf(guardrailVerdicts),
    tool_call_id: nullable(Id),
    message: Text,
    matches: Count,
    latency_ms: Milliseconds,
    spent: nullable(Spend),
  }),
  "output.rejected": exact({ ...is("output.rejected"), message_id: Id, content: Text }),
  "history.loaded": exact({ ...is("history.loaded"), messages: many(PromptMessage) }),
  "documents.attached": exact({ ...is("documents.attached"), documents: many(Document, 100) }),
  "memory.retrieved": exact({
    ...is("memory.retrieved"),
    step_index: Step,
    query: Text,
    stores: many(exact({ memory_id: Id, name: Short })),
    matches: many(Passage),
    failures: many(exact({ memory_id: Id, code: Short, message: Text })),
    latency_ms: Milliseconds,
  }),
  "context.compacted": exact({
    ...is("context.compacted"),
    step_index: Step,
    strategy: oneOf(["compact", "truncate"] as const),
    summary: nullable(Text),
    left_out: Count,
    tokens_before: Count,
    tokens_after: Count,
    latency_ms: Milliseconds,
    spent: nullable(Spend),
  }),
} satisfies { [T in RunEventType]: TObject };

type Schemas = typeof eventSchemas;
type Of<T extends RunEventType> = Extract<RunEvent, { type: T }>;
/** Names the kinds of entries that a schema and the event itself do not have the same fields of; never any. */
export type Unlike = {
  [T in RunEventType]: Static<Schemas[T]> extends Of<T>
    ? keyof Of<T> extends keyof Static<Schemas[T]>
      ? never
      : T
    : T;
}[RunEventType];

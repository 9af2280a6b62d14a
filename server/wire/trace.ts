import type { Static, TSchema } from "@sinclair/typebox";
import type { FinishReason, ModelRequest } from "../core/model-call.ts";
import { origins } from "../core/origin.ts";
import { type JournalEntry, stepTypes } from "../core/run-event.ts";
import { runStatuses } from "../core/run-state.ts";
import type { TraceStep as Step } from "../core/trace.ts";
import { FileFacts } from "./file.ts";
import { changes } from "./names.ts";
import { cost, counts, ForkedFrom, Usage } from "./run.ts";
import {
  anyObject,
  anything,
  boolean,
  CodedError,
  envelope,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  optional,
  orNull,
  resource,
  text,
  time,
  typed,
  word,
} from "./schema.ts";

const StepUsage = object({ ...counts, ...cost });

export const TraceStep = named(
  "TraceStep",
  object({
    id: text,
    object: word("trace_step"),
    step_index: integer,
    turn_index: integer,
    parent_id: orNull(text),
    type: oneOf(stepTypes),
    name: text,
    status: typed<Step["status"]>(text),
    attempt: integer,
    started_at: time,
    ended_at: orNull(time),
    latency_ms: orNull(integer),
    time_to_first_token_ms: orNull(integer),
    input: anything,
    output: anything,
    reasoning: orNull(text),
    error: orNull(CodedError),
    usage: orNull(StepUsage),
    finish_reason: orNull(typed<FinishReason>(text)),
    model: orNull(text),
    tool_call_id: orNull(text),
    input_hash: orNull(text),
    replayed: boolean,
    subagent: orNull(object({ run_id: text, agent_id: text })),
    approval: orNull(
      object({
        decision: oneOf(["approve", "reject"]),
        reason: orNull(text),
        edited: boolean,
        at: time,
        by: orNull(object({ type: text, id: orNull(text) })),
      }),
    ),
    retries: list(
      object({
        attempt: integer,
        at: time,
        reason: orNull(CodedError),
        delay_ms: integer,
        usage: orNull(StepUsage),
      }),
    ),
    raw: optional(list(typed<JournalEntry>(anyObject))),
    files: optional(list(FileFacts)),
    run_id: optional(text),
    prompt: optional(orNull(typed<ModelRequest>(anyObject))),
  }),
);
export type TraceStep = Static<typeof TraceStep>;

const trace = {
  run_id: text,
  agent_id: text,
  agent_version: integer,
  status: oneOf(runStatuses),
  started_at: time,
  ended_at: orNull(time),
  duration_ms: integer,
  usage: Usage,
  origin: oneOf(origins),
  forked_from: orNull(ForkedFrom),
  replay_of: orNull(text),
  imported: boolean,
};

export const TraceSummary = resource("TraceSummary", "trace", { ...trace, steps_count: integer });
export type TraceSummary = Static<typeof TraceSummary>;

export const Trace = resource("Trace", "trace", {
  ...trace,
  recoveries: list(object({ attempt: integer, at: time, step_index: orNull(integer) })),
  history_messages: integer,
  documents: list(
    object({
      file_id: text,
      filename: text,
      mime_type: text,
      sha256: text,
      image: boolean,
      note: orNull(text),
      length: orNull(integer),
    }),
  ),
  steps: list(TraceStep),
  steps_has_more: boolean,
  agent: optional(orNull(anyObject)),
  raw: optional(list(anyObject)),
});
export type Trace = Static<typeof Trace>;

/** OTLP/JSON, with `format=otlp`: as OpenTelemetry has it. */
export const OtlpTrace = named("OtlpTrace", object({ resourceSpans: list(anything) }));

const ofBoth = <T extends TSchema>(schema: T) => object({ a: schema, b: schema });

export const DiffStep = named(
  "DiffStep",
  object({
    index: integer,
    a_step_index: orNull(integer),
    b_step_index: orNull(integer),
    type: oneOf(stepTypes),
    name: text,
    change: oneOf(changes),
    differences: list(object({ path: text, a: anything, b: anything })),
    latency_ms: ofBoth(orNull(integer)),
    cost_usd: ofBoth(orNull(number)),
  }),
);
export type DiffStep = Static<typeof DiffStep>;

export const Diff = named(
  "Diff",
  object({
    object: word("diff"),
    a: text,
    b: text,
    changes: object({ equal: integer, changed: integer, only_a: integer, only_b: integer }),
    steps: list(DiffStep),
    steps_has_more: boolean,
    usage: ofBoth(Usage),
    duration_ms: ofBoth(integer),
    delta: object({ cost_usd: orNull(number), total_tokens: orNull(integer), duration_ms: integer }),
    ...envelope,
  }),
);
export type Diff = Static<typeof Diff>;

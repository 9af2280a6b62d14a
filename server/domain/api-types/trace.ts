import type { Static, TSchema } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import type { FinishReason, ModelRequest } from "../model-call.ts";
import { Decider, DocumentFacts, FileFacts, type JournalEntry, ModelSpend } from "../run-event.ts";
import { runStatuses } from "../run-state.ts";
import { runTriggers } from "../run-trigger.ts";
import { stepTypes } from "../step-kinds.ts";
import type { TraceStep as Step } from "../trace.ts";
import { changes } from "./enums.ts";
import { ForkedFrom, Usage } from "./run.ts";
import { CodedError, envelope, resource, type Told, told } from "./schema.ts";

const { usage: counted, ...cost } = told(ModelSpend.properties);
const StepUsage = t.named("StepUsage", t.object({ ...counted.properties, ...cost }));

export const TraceStep = t.named(
  "TraceStep",
  t.object({
    id: t.text,
    object: t.word("trace_step"),
    step_index: t.integer,
    turn_index: t.integer,
    parent_id: t.orNull(t.text),
    type: t.oneOf(stepTypes),
    name: t.text,
    status: t.withType<Step["status"]>(t.text),
    attempt: t.integer,
    started_at: t.time,
    ended_at: t.orNull(t.time),
    latency_ms: t.orNull(t.integer),
    time_to_first_token_ms: t.orNull(t.integer),
    input: t.anything,
    output: t.anything,
    reasoning: t.orNull(t.text),
    error: t.orNull(CodedError),
    usage: t.orNull(StepUsage),
    finish_reason: t.orNull(t.withType<FinishReason>(t.text)),
    model: t.orNull(t.text),
    tool_call_id: t.orNull(t.text),
    tool_type: t.orNull(t.text),
    input_hash: t.orNull(t.text),
    replayed: t.boolean,
    subagent: t.orNull(t.object({ run_id: t.text, agent_id: t.text })),
    approval: t.orNull(
      t.object({
        decision: t.oneOf(["approve", "reject"]),
        reason: t.orNull(t.text),
        edited: t.boolean,
        at: t.time,
        by: t.orNull(told(Decider)),
      }),
    ),
    retries: t.list(
      t.object({
        attempt: t.integer,
        at: t.time,
        reason: t.orNull(CodedError),
        delay_ms: t.integer,
        usage: t.orNull(StepUsage),
      }),
    ),
    raw: t.optional(t.list(t.withType<JournalEntry>(t.anyObject))),
    files: t.optional(t.list(told(FileFacts))),
    run_id: t.optional(t.text),
    prompt: t.optional(t.orNull(t.withType<ModelRequest>(t.anyObject))),
  }),
);
export type TraceStep = Told<Static<typeof TraceStep>, Step>;

const trace = {
  run_id: t.text,
  agent_id: t.text,
  agent_version: t.integer,
  status: t.oneOf(runStatuses),
  started_at: t.time,
  ended_at: t.orNull(t.time),
  duration_ms: t.integer,
  usage: Usage,
  origin: t.oneOf(runTriggers),
  forked_from: t.orNull(ForkedFrom),
  replay_of: t.orNull(t.text),
  imported: t.boolean,
};

export const TraceSummary = resource("TraceSummary", "trace", { ...trace, steps_count: t.integer });
export type TraceSummary = Static<typeof TraceSummary>;

export const Trace = resource("Trace", "trace", {
  ...trace,
  recoveries: t.list(t.object({ attempt: t.integer, at: t.time, step_index: t.orNull(t.integer) })),
  history_messages: t.integer,
  documents: t.list(told(DocumentFacts)),
  steps: t.list(TraceStep),
  steps_has_more: t.boolean,
  agent: t.optional(t.orNull(t.anyObject)),
  raw: t.optional(t.list(t.anyObject)),
});
export type Trace = Static<typeof Trace>;

/** OTLP/JSON of OpenTelemetry, with `format=otlp`. */
export const OtlpTrace = t.named("OtlpTrace", t.object({ resourceSpans: t.list(t.anything) }));

/** Numbers of equal and different steps of two runs. */
export const DiffCounts = t.named(
  "DiffCounts",
  t.object({ equal: t.integer, changed: t.integer, only_a: t.integer, only_b: t.integer }),
);

const ofBoth = <T extends TSchema>(schema: T) => t.object({ a: schema, b: schema });

export const DiffStep = t.named(
  "DiffStep",
  t.object({
    index: t.integer,
    a_step_index: t.orNull(t.integer),
    b_step_index: t.orNull(t.integer),
    type: t.oneOf(stepTypes),
    name: t.text,
    change: t.oneOf(changes),
    differences: t.list(t.named("DiffValue", t.object({ path: t.text, a: t.anything, b: t.anything }))),
    latency_ms: t.named("DiffLatency", ofBoth(t.orNull(t.integer))),
    cost_usd: t.named("DiffCost", ofBoth(t.orNull(t.number))),
  }),
);
export type DiffStep = Static<typeof DiffStep>;

export const Diff = t.named(
  "Diff",
  t.object({
    object: t.word("diff"),
    a: t.text,
    b: t.text,
    changes: DiffCounts,
    steps: t.list(DiffStep),
    steps_has_more: t.boolean,
    usage: ofBoth(Usage),
    duration_ms: t.named("DiffDuration", ofBoth(t.integer)),
    delta: t.object({ cost_usd: t.orNull(t.number), total_tokens: t.orNull(t.integer), duration_ms: t.integer }),
    ...envelope,
  }),
);
export type Diff = Static<typeof Diff>;

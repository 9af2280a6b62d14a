import type { Static, TSchema } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { type FinishReason, type ModelRequest, RequestAdjustment } from "../model-call.ts";
import {
  Decider,
  DocumentFacts,
  decisions,
  eventFields,
  FileFacts,
  type JournalEntry,
  ModelSpend,
} from "../run-event.ts";
import { runStatuses } from "../run-state.ts";
import { runTriggers } from "../run-trigger.ts";
import { stepTypes } from "../step-kinds.ts";
import type { TraceStep as Step } from "../trace.ts";
import { WorkspaceChange, WorkspaceFile } from "../workspace-schema.ts";
import { changes } from "./enums.ts";
import { AgentId, At, Attempt, CompletedAt, Duration, objectOf, ownId, RunId, StepIndex } from "./fields.ts";
import { ForkedFrom, Usage } from "./run.ts";
import { CodedError, envelope, resource, told } from "./schema.ts";

const { usage: counted, ...cost } = told(ModelSpend.properties);
const StepUsage = t.named("StepUsage", t.object({ ...counted.properties, ...cost }));

const { start: _, ...changeFields } = told(WorkspaceChange.properties);
const StepWorkspace = t.named(
  "StepWorkspace",
  t.object({
    ...changeFields,
    files: t.about("The first 100 files of the folder after it.", t.list(told(WorkspaceFile))),
    file_count: t.about("How many files the folder has after it.", t.integer),
    bytes: t.about("How long they are together, in bytes.", t.integer),
  }),
);

const { progress, total, message, level } = told(eventFields["tool.progress"]);
const toldProgress = { progress, total, message, level };

const StepTypeName = t.about(
  "What the step does: it calls a model or a tool, runs another agent, searches memory, checks a rule and so on.",
  t.oneOf(stepTypes),
);

export const TraceStep = t.named(
  "TraceStep",
  t.object({
    id: ownId("step"),
    object: objectOf("trace_step"),
    step_index: StepIndex,
    turn_index: t.about("The model call that the step belongs to, from 0.", t.integer),
    parent_id: t.about("The parent step; null for steps of the run itself.", t.orNull(t.text)),
    type: StepTypeName,
    name: t.about("What was called, such as the model or the tool.", t.text),
    status: t.about(
      "`in_progress`, `waiting` for an answer, or how the step ended.",
      t.withType<Step["status"]>(t.text),
    ),
    attempt: Attempt,
    started_at: t.about("When the step began.", t.time),
    completed_at: CompletedAt,
    latency_ms: t.about("How long it took, in milliseconds; null while that is not known.", t.orNull(t.integer)),
    time_to_first_token_ms: t.about(
      "Time to the first token, in milliseconds; null if there is none.",
      t.orNull(t.integer),
    ),
    input: t.about(
      "What the step was given: of a model call the messages since the one before, of a tool call its arguments; null where it is nothing.",
      t.anything,
    ),
    output: t.about("What the step gave: the model's answer, or what the tool returned.", t.anything),
    reasoning: t.about("The model's reasoning; null if it reports none.", t.orNull(t.text)),
    error: t.about("What went wrong in the step; null where nothing did.", t.orNull(CodedError)),
    usage: t.about("What the step used; null where that is not known.", t.orNull(StepUsage)),
    finish_reason: t.about(
      "Why the model stopped; null if it did not say.",
      t.orNull(t.withType<FinishReason>(t.text)),
    ),
    adjustments: t.about(
      "Settings that the provider did not take, and fields that its server refused; absent if there are none.",
      t.optional(t.list(told(RequestAdjustment))),
    ),
    model: t.about("The model that was asked; null for other steps.", t.orNull(t.text)),
    tool_call_id: t.about(
      "Id of the call that the step carries out or checks; null for other steps.",
      t.orNull(t.text),
    ),
    tool_type: t.about(
      "Of the tool that was called, such as `http`, `client` and `agent`; null where there is none.",
      t.orNull(t.text),
    ),
    input_hash: t.about("SHA-256 of the prompt; null for steps that are no model call.", t.orNull(t.text)),
    tools_loaded: t.about(
      "Of a model call with deferred tools: names of the tools that are loaded, in the order in which they were. Absent where the model gets all tools.",
      t.optional(t.list(t.text)),
    ),
    replayed: t.about("Whether the step was taken from a record.", t.boolean),
    subagent: t.about(
      "The run that this step started; null for other steps.",
      t.orNull(
        t.object({
          run_id: t.about("Id of the run that was started: `run_…`.", t.text),
          agent_id: t.about("Id of the agent that was called: `agt_…`.", t.text),
        }),
      ),
    ),
    handoff: t.about(
      "The agent that goes on with the run after this step; absent where it was no handoff.",
      t.optional(
        t.object({
          from_agent_id: t.about("The agent that handed the conversation over.", t.text),
          agent_id: t.about("The agent that goes on with the conversation.", t.text),
          agent_name: t.about("What the agent that goes on is called.", t.text),
        }),
      ),
    ),
    approval: t.about(
      "The decision of a person; null if no approval was needed.",
      t.orNull(
        t.object({
          decision: t.about("Whether the person let the call be made.", t.oneOf(decisions)),
          reason: t.about("What the person gave as the reason; null where nothing was given.", t.orNull(t.text)),
          edited: t.about("Whether the arguments were changed.", t.boolean),
          at: At,
          by: t.about("Who decided; null where it is not known.", t.orNull(told(Decider))),
        }),
      ),
    ),
    retries: t.about(
      "Earlier attempts, and why they failed.",
      t.list(
        t.object({
          attempt: Attempt,
          at: At,
          model: t.about("The model of this attempt, where the next one asked another.", t.optional(t.text)),
          reason: t.about("What went wrong in this attempt; null where it is not known.", t.orNull(CodedError)),
          delay_ms: t.about("How long the server waited before this attempt, in milliseconds.", t.integer),
          usage: t.about("Tokens and cost of this attempt; null where they are not known.", t.orNull(StepUsage)),
        }),
      ),
    ),
    raw: t.about(
      "The run's journal as it is kept, with `include=raw`.",
      t.optional(t.list(t.withType<JournalEntry>(t.anyObject))),
    ),
    progress: t.about(
      "What the MCP server of the call said about it while it worked, oldest first; absent if it said nothing.",
      t.optional(
        t.list(
          t.object({
            at: At,
            ...toldProgress,
          }),
        ),
      ),
    ),
    files: t.about("Files that the step made.", t.optional(t.list(told(FileFacts)))),
    workspace: t.about(
      "For a program that shares its folder with others: what it was given and changed, and the folder after it.",
      t.optional(StepWorkspace),
    ),
    run_id: t.about("The run of the step, with `include=subagents`.", t.optional(t.text)),
    prompt: t.about(
      "The whole prompt, with `include=prompt`; null if it cannot be rebuilt.",
      t.optional(t.orNull(t.withType<ModelRequest>(t.anyObject))),
    ),
  }),
);
export type TraceStep = Static<typeof TraceStep>;

const trace = {
  run_id: RunId,
  agent_id: AgentId,
  agent_version: t.about("The version of the agent that the run took when it was created, and keeps.", t.integer),
  status: t.about("How the run stands: `completed`, `failed` and `cancelled` are final.", t.oneOf(runStatuses)),
  started_at: t.about("When the run began.", t.time),
  completed_at: CompletedAt,
  duration_ms: Duration,
  usage: t.about("Tokens, calls and cost of the run so far.", Usage),
  origin: t.about(
    "How the run came about: by a request, a schedule or a trigger (`run`), or as a `replay`, `fork` or `import` of another one.",
    t.oneOf(runTriggers),
  ),
  forked_from: t.about("The run and the step that this run was forked from; null for others.", t.orNull(ForkedFrom)),
  replay_of: t.about("The run that was replayed; null for others.", t.orNull(t.text)),
  imported: t.about("Whether the run was imported.", t.boolean),
};

export const TraceSummary = resource("TraceSummary", "trace", {
  ...trace,
  steps_count: t.about("How many steps there are.", t.integer),
});
export type TraceSummary = Static<typeof TraceSummary>;

export const Trace = resource("Trace", "trace", {
  ...trace,
  recoveries: t.about(
    "Restarts of the server in which the run went on.",
    t.list(
      t.object({
        attempt: Attempt,
        at: At,
        step_index: t.about("The step's number in the run, from 0.", t.orNull(t.integer)),
      }),
    ),
  ),
  pauses: t.about(
    "Pauses of the run, the oldest first.",
    t.list(
      t.object({
        requested_at: t.about("When the request to pause came, in UTC.", t.time),
        reason: t.about("Why; null where no reason was given.", t.orNull(t.text)),
        paused_at: t.about("When the run paused; null where it did not, or has not yet.", t.orNull(t.time)),
        completed_at: t.about("When the run went on or ended; null before that.", t.orNull(t.time)),
      }),
    ),
  ),
  history_messages: t.about("How many messages of the thread the run was given.", t.integer),
  documents: t.about("Files that the model was given with the input.", t.list(told(DocumentFacts))),
  steps: t.about("The steps, in their order.", t.list(TraceStep)),
  steps_has_more: t.about("Whether there are steps beyond these.", t.boolean),
  agent: t.about("The agent as the run pinned it, with `include=raw`.", t.optional(t.orNull(t.anyObject))),
  raw: t.about("The run's journal as it is kept, with `include=raw`.", t.optional(t.list(t.anyObject))),
});
export type Trace = Static<typeof Trace>;

/** OTLP/JSON of OpenTelemetry, with `format=otlp`. */
export const OtlpTrace = t.named(
  "OtlpTrace",
  t.object({ resourceSpans: t.about("The trace as OpenTelemetry has it.", t.list(t.anything)) }),
);

/** Numbers of equal and different steps of two runs. */
export const DiffCounts = t.named(
  "DiffCounts",
  t.object({
    equal: t.about("Steps that are the same in both runs.", t.integer),
    changed: t.about("How many steps differ.", t.integer),
    only_a: t.about("How many steps only run `a` has.", t.integer),
    only_b: t.about("How many steps only run `b` has.", t.integer),
  }),
);

const ofBoth = <T extends TSchema>(schema: T) =>
  t.object({ a: t.about("On the side of run `a`.", schema), b: t.about("On the side of run `b`.", schema) });

export const DiffStep = t.named(
  "DiffStep",
  t.object({
    index: t.about("Place among the steps of both runs, from 0.", t.integer),
    a_step_index: t.about("The step's place in run `a`; null where that run has none.", t.orNull(t.integer)),
    b_step_index: t.about("The step's place in run `b`; null where that run has none.", t.orNull(t.integer)),
    type: StepTypeName,
    name: t.about("What was called, such as the model or the tool.", t.text),
    change: t.about("How the step differs between the two runs.", t.oneOf(changes)),
    differences: t.about(
      "Each value that differs.",
      t.list(
        t.named(
          "DiffValue",
          t.object({
            path: t.about("Where in the step the value is, such as `output.text`.", t.text),
            a: t.about("The value in run `a`; absent where it has none.", t.anything),
            b: t.about("The value in run `b`; absent where it has none.", t.anything),
          }),
        ),
      ),
    ),
    latency_ms: t.about("How long it took, in milliseconds.", t.named("DiffLatency", ofBoth(t.orNull(t.integer)))),
    cost_usd: t.about("What it cost in US dollars.", t.named("DiffCost", ofBoth(t.orNull(t.number)))),
  }),
);
export type DiffStep = Static<typeof DiffStep>;

export const Diff = t.named(
  "Diff",
  t.object({
    object: objectOf("diff"),
    a: t.about("Id of the run that the address names first.", t.text),
    b: t.about("Id of the run that it is compared with.", t.text),
    changes: t.about("How many steps there are of each kind of change.", DiffCounts),
    steps: t.about("The steps of both runs, side by side.", t.list(DiffStep)),
    steps_has_more: t.about("Whether there are steps beyond these.", t.boolean),
    usage: t.about("Tokens, calls and cost of each run.", ofBoth(Usage)),
    duration_ms: t.about("How long it took, in milliseconds.", t.named("DiffDuration", ofBoth(t.integer))),
    delta: t.about(
      "How run `b` differs from run `a`: b − a.",
      t.object({
        cost_usd: t.about(
          "The difference in US dollars; null where one of the costs is not known.",
          t.orNull(t.number),
        ),
        total_tokens: t.about(
          "Tokens of prompts and answers together; null where they are not known.",
          t.orNull(t.integer),
        ),
        duration_ms: Duration,
      }),
    ),
    ...envelope,
  }),
);
export type Diff = Static<typeof Diff>;

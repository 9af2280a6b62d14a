import type { Static, TObject, TProperties } from "@sinclair/typebox";
import type { FrameName } from "../core/frames.ts";
import { callNeeds, guardrailVerdicts, stepTypes } from "../core/run-event.ts";
import { FileFacts } from "./file.ts";
import { counts, GuardrailPlace, RequiredAction, RequiredCall, RunError, Usage } from "./run.ts";
import {
  anyObject,
  anything,
  boolean,
  CodedError,
  choiceOf,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
  word,
} from "./schema.ts";

/** Data of an event: what every one has, and its own. */
const data = <F extends TProperties>(fields: F) => object({ ...fields, seq: integer, run_id: text, at: time });

const step = { step_index: integer, latency_ms: number };
const call = { tool_call_id: text };
const decided = data({
  guardrail: GuardrailPlace,
  verdict: oneOf(guardrailVerdicts),
  tool_call_id: orNull(text),
  message: text,
  matches: integer,
  ...step,
});
const ended = { id: text, output: orNull(text), usage: Usage };
const needs = orNull(oneOf(callNeeds));

/** The data of each event of a run, as streams, lists and webhooks have it. */
export const frames = {
  "run.created": data({
    id: text,
    status: oneOf(["queued", "in_progress"]),
    agent_id: text,
    request_id: orNull(text),
  }),
  "run.queued": data({ id: text, status: word("queued"), queue_position: integer }),
  "run.started": data({ id: text, status: word("in_progress") }),
  "run.requires_action": data({ required_action: RequiredAction }),
  "run.resumed": data({}),
  "run.recovered": data({ attempt: integer, step_index: orNull(integer) }),
  "run.completed": data({ ...ended, status: word("completed"), output_json: anything }),
  "run.failed": data({ ...ended, status: oneOf(["failed", "cancelled"]), error: RunError }),
  "step.started": data({ step_index: integer, type: oneOf(stepTypes), attempt: integer, name: text }),
  "step.restarted": data({
    step_index: integer,
    attempt: integer,
    discards: integer,
    reason: orNull(CodedError),
    delay_ms: number,
  }),
  "step.completed": data({
    ...step,
    type: oneOf(stepTypes),
    status: oneOf(["completed", "failed", "cancelled"]),
    usage: orNull(object(counts)),
    error: orNull(object({ code: text, message: text, retryable: boolean })),
  }),
  /** A piece of what a model writes; `offset` counts all characters of the step up to its end. */
  token: data({ delta: text, kind: oneOf(["output", "reasoning"]), offset: integer, step_index: integer }),
  "tool.requested": data({
    ...call,
    tool: text,
    args: anyObject,
    tool_id: orNull(text),
    type: text,
    needs,
    step_index: integer,
  }),
  "tool.decided": data({ ...call, decision: oneOf(["approve", "reject"]), reason: orNull(text), needs }),
  "tool.completed": data({
    ...call,
    ...step,
    tool: text,
    status: oneOf(["completed", "failed", "rejected", "cancelled", "unknown"]),
    result: anything,
    error: orNull(CodedError),
    files: optional(list(FileFacts)),
  }),
  "subagent.started": data({ ...call, subagent_run_id: text, agent_id: text }),
  "subagent.waiting": data({ ...call, tool_calls: list(RequiredCall) }),
  "subagent.resumed": data(call),
  "guardrail.passed": decided,
  "guardrail.triggered": decided,
  "output.rejected": data({ message: text }),
  "history.loaded": data({ messages: integer }),
  "documents.attached": data({
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
  }),
  "memory.retrieved": data({
    ...step,
    query: text,
    matches: list(
      object({
        memory_id: text,
        entry_id: text,
        text,
        score: number,
        file_id: orNull(text),
        filename: orNull(text),
        chunk_index: integer,
        page: orNull(integer),
        heading: orNull(text),
      }),
    ),
    failures: list(object({ memory_id: text, code: text, message: text })),
  }),
  "context.compacted": data({
    ...step,
    strategy: oneOf(["compact", "truncate"]),
    left_out: integer,
    tokens_before: integer,
    tokens_after: integer,
  }),
} satisfies Record<FrameName, TObject>;

const nameOf = (event: string) =>
  `${event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** An event of a run in a list. */
export const Event = choiceOf(
  "Event",
  "event",
  Object.fromEntries(
    Object.entries(frames).map(([event, data]) => [
      event,
      named(nameOf(event), object({ seq: integer, event: word(event), at: time, data })),
    ]),
  ),
);

/** One event of a run, by its name. */
export type RunFrame = { [Name in FrameName]: { event: Name; data: Static<(typeof frames)[Name]> } }[FrameName];

/** What every event says. */
export type FrameData = RunFrame["data"];

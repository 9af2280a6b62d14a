import type { Static, TObject, TProperties } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { DocumentFacts, eventFields, type RunEventType } from "../run-event.ts";
import { stepTypes } from "../step-kinds.ts";
import { eventDescription } from "./descriptions.ts";
import type { FrameName } from "./enums.ts";
import { counts, RequiredAction, RequiredCall, RunError, Usage } from "./run.ts";
import { choiceOf, eventName, told } from "./schema.ts";

/** Event data: the fields of all events, and those of this one. */
const data = <F extends TProperties>(fields: F) => t.object({ ...fields, seq: t.integer, run_id: t.text, at: t.time });

/** Fields copied from the journal's event. */
const from = <T extends RunEventType, F extends keyof (typeof eventFields)[T]>(type: T, ...fields: F[]) =>
  told(
    Object.fromEntries(fields.map((field) => [field, eventFields[type][field]])) as Pick<(typeof eventFields)[T], F>,
  );

const call = { tool_call_id: t.text };
const decided = data(
  from("guardrail.decided", "guardrail", "verdict", "tool_call_id", "message", "matches", "step_index", "latency_ms"),
);
const ended = { id: t.text, output: t.orNull(t.text), usage: Usage };
const stepType = { type: t.oneOf(stepTypes) };
const asked = told(eventFields["tool.requested"].call.properties);

/** Data of each run event in streams, lists and webhooks. */
export const frames = {
  "run.created": data({
    id: t.text,
    status: t.oneOf(["queued", "in_progress"]),
    agent_id: t.text,
    request_id: t.orNull(t.text),
  }),
  "run.queued": data({ id: t.text, status: t.word("queued"), queue_position: t.integer }),
  "run.started": data({ id: t.text, status: t.word("in_progress") }),
  "run.requires_action": data({ required_action: RequiredAction }),
  "run.resumed": data({}),
  "run.recovered": data(from("run.recovered", "attempt", "step_index")),
  "run.completed": data({ ...ended, status: t.word("completed"), output_json: t.anything }),
  "run.failed": data({ ...ended, status: t.oneOf(["failed", "cancelled"]), error: RunError }),
  "step.started": data({
    ...from("step.started", "step_index"),
    ...stepType,
    ...from("step.started", "attempt", "name"),
  }),
  "step.restarted": data(from("step.restarted", "step_index", "attempt", "discards", "reason", "delay_ms")),
  "step.completed": data({
    ...from("step.completed", "step_index", "latency_ms"),
    ...stepType,
    ...from("step.completed", "status"),
    usage: t.orNull(t.named("ModelUsage", t.object(counts))),
    ...from("step.completed", "error"),
  }),
  /** A piece of the model's output; `offset` counts all characters of the step up to its end. */
  token: data({ delta: t.text, kind: t.oneOf(["output", "reasoning"]), offset: t.integer, step_index: t.integer }),
  "tool.requested": data({
    ...call,
    tool: t.text,
    args: t.anyObject,
    tool_id: asked.tool_id,
    type: t.text,
    needs: asked.needs,
    step_index: t.integer,
  }),
  "tool.decided": data(from("tool.decided", "tool_call_id", "decision", "reason", "needs")),
  "tool.completed": data({
    ...from("tool.completed", "tool_call_id", "step_index", "latency_ms", "tool", "status"),
    result: t.anything,
    ...from("tool.completed", "error", "files"),
  }),
  "subagent.started": data({ ...call, subagent_run_id: t.text, agent_id: t.text }),
  "subagent.waiting": data({ ...call, tool_calls: t.list(RequiredCall) }),
  "subagent.resumed": data(call),
  "guardrail.passed": decided,
  "guardrail.triggered": decided,
  "output.rejected": data({ message: t.text }),
  "history.loaded": data({ messages: t.integer }),
  "documents.attached": data({ documents: t.list(told(DocumentFacts)) }),
  "memory.retrieved": data(
    from("memory.retrieved", "step_index", "latency_ms", "query", "matches", "failures", "reranks", "degradations"),
  ),
  "context.compacted": data(
    from("context.compacted", "step_index", "latency_ms", "strategy", "left_out", "tokens_before", "tokens_after"),
  ),
} satisfies Record<FrameName, TObject>;

/** An event of a run in a list. */
export const Event = choiceOf(
  "Event",
  "event",
  Object.fromEntries(
    Object.entries(frames).map(([event, data]) => [
      event,
      t.named(
        eventName(event),
        t.object({ seq: t.integer, event: t.word(event), at: t.time, data }, { description: eventDescription(event) }),
      ),
    ]),
  ),
);

/** One event of a run, by name. */
export type RunFrame = { [Name in FrameName]: { event: Name; data: Static<(typeof frames)[Name]> } }[FrameName];

/** Data of any event. */
export type FrameData = RunFrame["data"];

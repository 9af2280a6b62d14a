import type { Static, TObject, TProperties } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { DocumentFacts, eventFields, type RunEventType } from "../run-event.ts";
import { stepTypes } from "../step-kinds.ts";
import type { FrameName } from "./enums.ts";
import { AgentId, Arguments, At, RunId, StepIndex, statusIs, ToolName } from "./fields.ts";
import { counts, RequiredAction, RequiredCall, RunError, Usage } from "./run.ts";
import { choiceOf, eventName, told } from "./schema.ts";

/** Event data: the fields of all events, and those of this one. */
const data = <F extends TProperties>(fields: F) => t.object({ ...fields, seq: Seq, run_id: RunId, at: At });

/** Fields copied from the journal's event. */
const from = <T extends RunEventType, F extends keyof (typeof eventFields)[T]>(type: T, ...fields: F[]) =>
  told(
    Object.fromEntries(fields.map((field) => [field, eventFields[type][field]])) as Pick<(typeof eventFields)[T], F>,
  );

const RunOwnId = t.about("The run's id, the same as `run_id`.", t.text);
const Seq = t.about("The event's number in the run, from 1 without gaps. Resume a stream after it.", t.integer);
const call = { tool_call_id: t.about("Id of the call, the same in all of its events.", t.text) };
const decided = data(
  from("guardrail.decided", "guardrail", "verdict", "tool_call_id", "message", "matches", "step_index", "latency_ms"),
);
const ended = {
  id: RunOwnId,
  output: t.about("The run's answer, or the text up to its end; null where there is none.", t.orNull(t.text)),
  usage: t.about("Tokens, calls and cost of the whole run.", Usage),
};
const stepType = {
  type: t.about(
    "What the step does: it calls a model or a tool, runs another agent, searches memory, checks a rule and so on.",
    t.oneOf(stepTypes),
  ),
};
const asked = told(eventFields["tool.requested"].call.properties);

/** Data of each run event in streams, lists and webhooks. */
export const frames = {
  "run.created": t.about(
    "The run exists. It is the first event of every run.",
    data({
      id: RunOwnId,
      status: t.about(
        "`in_progress`, or `queued` while the concurrency limit is reached.",
        t.oneOf(["queued", "in_progress"]),
      ),
      agent_id: AgentId,
      request_id: t.about("The request's id, as in the header `X-Request-Id`.", t.orNull(t.text)),
    }),
  ),
  "run.queued": t.about(
    "The run is queued, because the concurrency limit is reached. The stream stays open.",
    data({
      id: RunOwnId,
      status: statusIs("queued"),
      queue_position: t.about("Its place in the queue, from 1.", t.integer),
    }),
  ),
  "run.started": t.about("The run left the queue and begins.", data({ id: RunOwnId, status: statusIs("in_progress") })),
  "run.requires_action": t.about(
    "The run waits for an answer to tool calls, for a user's consent, or for both. The stream stays open.",
    data({ required_action: t.about("What the run waits for.", RequiredAction) }),
  ),
  "run.resumed": t.about(
    "The run continues: every call that it waited for is answered or allowed, or its pause is over.",
    data({}),
  ),
  "run.pause_requested": t.about(
    "The run is to pause. What is in progress ends first.",
    data({ reason: t.about("Why; null where no reason was given.", t.orNull(t.text)) }),
  ),
  "run.paused": t.about(
    "The run is paused until it is resumed. The stream stays open.",
    data({ id: RunOwnId, status: statusIs("paused") }),
  ),
  "run.pause_cancelled": t.about("The run goes on without the pause that was requested.", data({})),
  "run.steered": t.about(
    "A message was sent to the run while it is under way. The next model call has it.",
    data({
      ...from("run.steered", "message_id", "content"),
      interrupt: t.about("Whether it ended the model call that was open.", t.boolean),
    }),
  ),
  "run.recovered": t.about(
    "The server was restarted, and the run continues where it was.",
    data(from("run.recovered", "attempt", "step_index")),
  ),
  "run.completed": t.about(
    "The run has completed and has its output. It is the last event of the stream.",
    data({
      ...ended,
      status: statusIs("completed"),
      output_json: t.about("The output as JSON, where the agent has an `output_schema`.", t.anything),
    }),
  ),
  "run.failed": t.about(
    "The run has ended without success; `status` says whether it failed or was cancelled. It is the last event.",
    data({
      ...ended,
      status: t.about("Whether the run `failed`, or was `cancelled` on request.", t.oneOf(["failed", "cancelled"])),
      error: t.about("Why the run failed, or that it was cancelled.", RunError),
    }),
  ),
  "step.started": t.about(
    "A step begins: a model call, a tool call, or another one of the trace.",
    data({
      ...from("step.started", "step_index"),
      ...stepType,
      ...from("step.started", "attempt", "name"),
    }),
  ),
  "step.restarted": t.about(
    "A step starts over after a failed attempt. Discard the tokens since the event `discards`.",
    data(from("step.restarted", "step_index", "attempt", "discards", "reason", "delay_ms", "model")),
  ),
  "step.completed": t.about(
    "A step has ended. Its `status` says how it ended, and `usage` what a model call used.",
    data({
      ...from("step.completed", "step_index", "latency_ms"),
      ...stepType,
      ...from("step.completed", "status"),
      usage: t.about(
        "Tokens of a model call; null for other steps.",
        t.orNull(t.named("ModelUsage", t.object(counts))),
      ),
      ...from("step.completed", "error"),
    }),
  ),
  /** A piece of the model's output; `offset` counts all characters of the step up to its end. */
  token: t.about(
    "A piece of what the model writes. Tokens have no `seq` of their own and are in no list of events.",
    data({
      delta: t.about("The new characters. Append them to those before.", t.text),
      kind: t.about("Whether it is part of the output, or of what the model thinks.", t.oneOf(["output", "reasoning"])),
      offset: t.about("Where the piece ends in the step's text, in UTF-16 code units.", t.integer),
      step_index: StepIndex,
    }),
  ),
  "tool.requested": t.about(
    "The model asks for a tool. `needs` says what the call waits for, if it waits.",
    data({
      ...call,
      tool: ToolName,
      args: Arguments,
      tool_id: asked.tool_id,
      type: t.about("What kind of tool it is, such as `http`, `mcp` or `client`.", t.text),
      needs: asked.needs,
      elicitation: asked.elicitation,
      step_index: StepIndex,
    }),
  ),
  "tool.decided": t.about(
    "A person decided on a tool call, or answered a question of its MCP server.",
    data(from("tool.decided", "tool_call_id", "decision", "reason", "elicitation", "needs")),
  ),
  "tool.authorized": t.about("The user consented to the use of an account. The call is made now.", data(call)),
  "tool.progress": t.about(
    "The MCP server of a tool call that is under way says how far it is, or logs something. At most one per second.",
    data(from("tool.progress", "tool_call_id", "step_index", "progress", "total", "message", "level")),
  ),
  "tool.completed": t.about(
    "A tool call has ended. The model reads its `result`.",
    data({
      ...from("tool.completed", "tool_call_id", "step_index", "latency_ms", "tool", "status"),
      result: t.about("What the tool returned.", t.anything),
      ...from("tool.completed", "error", "files"),
    }),
  ),
  "subagent.started": t.about(
    "A call of an agent tool started another run.",
    data({
      ...call,
      subagent_run_id: t.about("The run that this call of an agent started.", t.text),
      agent_id: t.about("Id of the agent that was called: `agt_…`.", t.text),
    }),
  ),
  "subagent.waiting": t.about(
    "A run that a call of an agent tool started waits for an answer. Submit it to this run.",
    data({
      ...call,
      tool_calls: t.about("The calls of that run which wait, each with what it needs.", t.list(RequiredCall)),
    }),
  ),
  "subagent.resumed": t.about("The run that a call of an agent tool started has resumed.", data(call)),
  "handoff.completed": t.about(
    "An agent handed the conversation over. From here on the other agent answers, in this run and its stream.",
    data(from("handoff.completed", "tool_call_id", "from_agent_id", "agent_id", "agent_name", "reason")),
  ),
  "guardrail.passed": t.about("A guardrail that asks a model found nothing.", decided),
  "guardrail.triggered": t.about("A guardrail found something. `verdict` says what it decided.", decided),
  "output.rejected": t.about(
    "The response does not match the agent's `output_schema`. The model reads why and tries again.",
    data({ message: t.about("Why the answer does not fit, as the model reads it.", t.text) }),
  ),
  "history.loaded": t.about(
    "Messages of the thread were put before the input.",
    data({ messages: t.about("How many messages of the thread were put before the input.", t.integer) }),
  ),
  "documents.attached": t.about(
    "The files of `file_ids` were read and given to the model.",
    data({ documents: t.about("Files that the model was given with the input.", t.list(told(DocumentFacts))) }),
  ),
  "memory.retrieved": t.about(
    "The memory stores were searched with the input.",
    data(
      from("memory.retrieved", "step_index", "latency_ms", "query", "matches", "failures", "reranks", "degradations"),
    ),
  ),
  "context.compacted": t.about(
    "The conversation became too long for the model, and earlier messages were left out or summarized.",
    data(
      from("context.compacted", "step_index", "latency_ms", "strategy", "left_out", "tokens_before", "tokens_after"),
    ),
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
        t.object(
          {
            seq: Seq,
            event: t.about(`Always \`${event}\`: it says which fields \`data\` has.`, t.word(event)),
            at: t.about("When the event was on disk, in UTC: RFC 3339 with milliseconds.", t.time),
            data: t.about("The fields of this event.", data),
          },
          { description: data.about },
        ),
      ),
    ]),
  ),
);

/** One event of a run, by name. */
export type RunFrame = { [Name in FrameName]: { event: Name; data: Static<(typeof frames)[Name]> } }[FrameName];

/** Data of any event. */
export type FrameData = RunFrame["data"];

import {
  type AuthorizationLink,
  requiredActionObject,
  requiredCallObject,
  withAuthorizationLinks,
} from "../required-action.ts";
import { cancelError } from "../run-error.ts";
import type { JournalEntry, RunEvent } from "../run-event.ts";
import { timestamp } from "../time.ts";
import type { RunFrame } from "./events.ts";

type Whole = { seq: number; at: string };

/** A journal entry for clients. */
export type Frame = Whole & RunFrame;

type Told = {
  [Name in RunFrame["event"]]: [
    name: Name,
    data: Omit<Extract<RunFrame, { event: Name }>["data"], "run_id" | keyof Whole>,
  ];
}[RunFrame["event"]];

/**
 * Returns the API representation of an entry, the same in streams, lists and webhooks. `link` adds the addresses at which
 * users consent, for readers that may have them.
 */
export function frameOf(runId: string, { seq, at, event }: JournalEntry, link?: AuthorizationLink): Frame {
  const time = timestamp(at);
  const [name, data] = wire(runId, event, link);
  return { seq, event: name, at: time, data: { ...data, seq, run_id: runId, at: time } } as Frame;
}

/** True for the two events that end a stream. Clients of the specification close at them. */
export const isLastFrame = (event: string): boolean => event === "run.completed" || event === "run.failed";

function wire(id: string, event: RunEvent, link: AuthorizationLink | undefined): Told {
  switch (event.type) {
    case "run.created": {
      const status = event.queued ? "queued" : "in_progress";
      return [event.type, { id, status, agent_id: event.agent_id, request_id: event.request_id }];
    }
    case "run.queued":
      return [event.type, { id, status: "queued", queue_position: event.queue_position }];
    case "run.started":
      return [event.type, { id, status: "in_progress" }];
    case "run.completed":
      return [
        event.type,
        { id, status: "completed", output: event.output, output_json: event.output_json, usage: event.usage },
      ];
    case "run.failed":
      return [event.type, { id, status: "failed", error: event.error, usage: event.usage, output: event.output }];
    case "run.cancelled": {
      const { reason, usage, output } = event;
      return ["run.failed", { id, status: "cancelled", error: cancelError(reason), usage, output }];
    }
    case "run.requires_action": {
      const action = requiredActionObject(event.required_action);
      return [event.type, { required_action: link ? withAuthorizationLinks(action, id, link) : action }];
    }
    case "run.resumed":
      return [event.type, {}];
    case "run.pause_requested":
      return [event.type, { reason: event.reason }];
    case "run.paused":
      return [event.type, { id, status: "paused" }];
    case "run.pause_cancelled":
      return [event.type, {}];
    case "run.steered": {
      const { message_id, content, interrupt = false } = event;
      return [event.type, { message_id, content, interrupt }];
    }
    case "run.recovered":
      return [event.type, { attempt: event.attempt, step_index: event.step_index }];
    case "step.started":
      return [
        event.type,
        { step_index: event.step_index, type: event.step_type, attempt: event.attempt, name: event.name },
      ];
    case "step.restarted": {
      const { step_index, attempt, discards, reason, delay_ms, model } = event;
      const modelField = model === undefined ? {} : { model };
      return [event.type, { step_index, attempt, discards, reason, delay_ms, ...modelField }];
    }
    case "step.completed": {
      const { step_index, step_type, status, latency_ms, error, answer } = event;
      return [event.type, { step_index, type: step_type, status, latency_ms, usage: answer?.usage ?? null, error }];
    }
    case "tool.requested": {
      const { tool, arguments: args, id: tool_call_id, tool_id, type, needs, elicitation, step_index } = event.call;
      const question = elicitation && { elicitation };
      return [event.type, { tool, args, tool_call_id, tool_id, type, needs, ...question, step_index }];
    }
    case "tool.decided": {
      const { tool_call_id, decision, reason, elicitation, needs } = event;
      return [event.type, { tool_call_id, decision, reason, ...(elicitation && { elicitation }), needs }];
    }
    case "tool.authorized":
      return [event.type, { tool_call_id: event.tool_call_id }];
    case "tool.progress": {
      const { tool_call_id, step_index, progress, total, message, level } = event;
      return [event.type, { tool_call_id, step_index, progress, total, message, level }];
    }
    case "tool.completed": {
      const { tool, tool_call_id, status, output, error, latency_ms, step_index, files } = event;
      const filesField = files && files.length > 0 ? { files } : {};
      return [event.type, { tool, tool_call_id, status, result: output, error, latency_ms, step_index, ...filesField }];
    }
    case "subagent.started":
      return [
        event.type,
        { tool_call_id: event.tool_call_id, subagent_run_id: event.run_id, agent_id: event.agent_id },
      ];
    case "subagent.waiting":
      return [event.type, { tool_call_id: event.tool_call_id, tool_calls: event.calls.map(requiredCallObject) }];
    case "subagent.resumed":
      return [event.type, { tool_call_id: event.tool_call_id }];
    case "handoff.completed": {
      const { tool_call_id, from_agent_id, agent_id, agent_name, reason } = event;
      return [event.type, { tool_call_id, from_agent_id, agent_id, agent_name, reason }];
    }
    case "guardrail.decided": {
      const { guardrail, verdict, tool_call_id, message, matches, step_index, latency_ms } = event;
      const name = verdict === "passed" ? "guardrail.passed" : "guardrail.triggered";
      return [name, { guardrail, verdict, tool_call_id, message, matches, step_index, latency_ms }];
    }
    case "output.rejected":
      return [event.type, { message: event.content }];
    case "history.loaded":
      return [event.type, { messages: event.messages.length }];
    case "documents.attached":
      return [
        event.type,
        { documents: event.documents.map(({ text, ...about }) => ({ ...about, length: text?.length ?? null })) },
      ];
    case "memory.retrieved": {
      const { step_index, query, matches, failures, reranks, degradations, latency_ms } = event;
      const more = { ...(reranks && { reranks }), ...(degradations && { degradations }) };
      return [event.type, { step_index, query, matches, failures, ...more, latency_ms }];
    }
    case "context.compacted": {
      const { step_index, strategy, left_out, tokens_before, tokens_after, latency_ms } = event;
      return [event.type, { step_index, strategy, left_out, tokens_before, tokens_after, latency_ms }];
    }
    default:
      return event satisfies never;
  }
}

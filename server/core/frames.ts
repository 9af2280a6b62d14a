import type { JournalEntry, RequiredAction, RequiredCall, RunError, RunEvent, RunEventType } from "./run-event.ts";
import type { ToolCall } from "./run-state.ts";
import { timestamp } from "./time.ts";

/** The events of a run's stream: `token` stands in no journal, and clients of the specification know no cancelled run. */
export type FrameName =
  | Exclude<RunEventType, "run.cancelled" | "guardrail.decided">
  | "guardrail.passed"
  | "guardrail.triggered"
  | "token";

const all: Record<FrameName, true> = {
  "run.created": true,
  "run.queued": true,
  "run.started": true,
  "run.requires_action": true,
  "run.resumed": true,
  "run.recovered": true,
  "run.completed": true,
  "run.failed": true,
  "step.started": true,
  "step.restarted": true,
  "step.completed": true,
  token: true,
  "tool.requested": true,
  "tool.decided": true,
  "tool.completed": true,
  "subagent.started": true,
  "subagent.waiting": true,
  "subagent.resumed": true,
  "guardrail.passed": true,
  "guardrail.triggered": true,
  "output.rejected": true,
  "history.loaded": true,
  "documents.attached": true,
  "memory.retrieved": true,
  "context.compacted": true,
};
export const frameNames = Object.keys(all) as FrameName[];

/** What clients see of a journal entry: an event name of the specification and its data. */
interface Frame {
  seq: number;
  event: FrameName;
  at: string;
  data: Record<string, unknown>;
}

/** The wire shape of an entry, the same in streams, lists and webhooks. */
export function frameOf(runId: string, { seq, at, event }: JournalEntry): Frame {
  const time = timestamp(at);
  const [name, data] = wire(runId, event);
  return { seq, event: name, at: time, data: { ...data, seq, run_id: runId, at: time } };
}

/** Every stream ends with exactly one of these two: clients of the specification close on them. */
export const isLastFrame = (event: string): boolean => event === "run.completed" || event === "run.failed";

function wire(id: string, event: RunEvent): [name: FrameName, data: Record<string, unknown>] {
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
    case "run.requires_action":
      return [event.type, { required_action: event.required_action }];
    case "run.resumed":
      return [event.type, {}];
    case "run.recovered":
      return [event.type, { attempt: event.attempt, step_index: event.step_index }];
    case "step.started":
      return [
        event.type,
        { step_index: event.step_index, type: event.step_type, attempt: event.attempt, name: event.name },
      ];
    case "step.restarted": {
      const { step_index, attempt, discards, reason, delay_ms } = event;
      return [event.type, { step_index, attempt, discards, reason, delay_ms }];
    }
    case "step.completed": {
      const { step_index, step_type, status, latency_ms, error, answer } = event;
      return [event.type, { step_index, type: step_type, status, latency_ms, usage: answer?.usage ?? null, error }];
    }
    case "tool.requested": {
      const { tool, arguments: args, id: tool_call_id, tool_id, type, needs, step_index } = event.call;
      return [event.type, { tool, args, tool_call_id, tool_id, type, needs, step_index }];
    }
    case "tool.decided": {
      const { tool_call_id, decision, reason, needs } = event;
      return [event.type, { tool_call_id, decision, reason, needs }];
    }
    case "tool.completed": {
      const { tool, tool_call_id, status, output, error, latency_ms, step_index, files } = event;
      const made = files && files.length > 0 ? { files } : {};
      return [event.type, { tool, tool_call_id, status, result: output, error, latency_ms, step_index, ...made }];
    }
    case "subagent.started":
      return [
        event.type,
        { tool_call_id: event.tool_call_id, subagent_run_id: event.run_id, agent_id: event.agent_id },
      ];
    case "subagent.waiting":
      return [event.type, { tool_call_id: event.tool_call_id, tool_calls: event.calls }];
    case "subagent.resumed":
      return [event.type, { tool_call_id: event.tool_call_id }];
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
      const { step_index, query, matches, failures, latency_ms } = event;
      return [event.type, { step_index, query, matches, failures, latency_ms }];
    }
    case "context.compacted": {
      const { step_index, strategy, left_out, tokens_before, tokens_after, latency_ms } = event;
      return [event.type, { step_index, strategy, left_out, tokens_before, tokens_after, latency_ms }];
    }
    default:
      return event satisfies never;
  }
}

/** How a cancelled run says so to clients that know only `run.failed`. */
export const cancelError = (reason: string | null): RunError => ({
  type: "run_error",
  code: "run_cancelled",
  message: reason ? `The run was cancelled: ${reason}` : "The run was cancelled.",
  step_index: null,
  retryable: false,
});

/** What a run that waits asks of its client, with what its child runs ask. `expiresAt` in milliseconds. */
export const requiredAction = (calls: readonly ToolCall[], expiresAt: number): RequiredAction => ({
  type: "submit_tool_outputs",
  submit_tool_outputs: { tool_calls: calls.flatMap((call) => requiredCalls(call, timestamp(expiresAt))) },
});

function requiredCalls(
  { id, tool_id, tool, arguments: args, needs, child }: ToolCall,
  expires_at: string,
): RequiredCall[] {
  if (child && child.waits_for.length > 0) return child.waits_for;
  return [{ id, tool_id, tool, arguments: args, needs: needs!, expires_at }];
}

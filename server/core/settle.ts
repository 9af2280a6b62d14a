import { newId } from "./ids.ts";
import type { RunEvent, ToolCompleted } from "./run-event.ts";

type Result = Pick<ToolCompleted, "status" | "output" | "error" | "latency_ms" | "attempts" | "submitted">;

/** The result of a call and the end of its step: two events that always stand in one append. */
export function settleCall(call: { id: string; step_index: number; tool: string }, result: Result): RunEvent[] {
  const { step_index, tool } = call;
  const { status, latency_ms } = result;
  return [
    { type: "tool.completed", tool_call_id: call.id, step_index, tool, ...result, message_id: newId("message") },
    {
      type: "step.completed",
      step_index,
      step_type: "tool_call",
      status: status === "completed" || status === "cancelled" ? status : "failed",
      latency_ms,
      error: null,
      answer: null,
    },
  ];
}

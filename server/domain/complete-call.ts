import { newId } from "./ids.ts";
import type { RunEvent, ToolCompleted } from "./run-event.ts";
import { endStep } from "./step-events.ts";

/** Result of a call. */
export type Result = Omit<ToolCompleted, "tool_call_id" | "step_index" | "tool" | "message_id">;

/** Returns the step type of a tool's calls. */
export const stepTypeOf = (toolType: string): "subagent" | "handoff" | "tool_call" =>
  toolType === "agent" ? "subagent" : toolType === "handoff" ? "handoff" : "tool_call";

/** Returns the result of a call and the end of its step. Both events are always appended together. */
export function completeCall(
  call: { id: string; step_index: number; tool: string; type: string },
  result: Result,
): RunEvent[] {
  const { step_index, tool } = call;
  const { status, latency_ms } = result;
  return [
    { type: "tool.completed", tool_call_id: call.id, step_index, tool, ...result, message_id: newId("message") },
    endStep({
      step_index,
      step_type: stepTypeOf(call.type),
      status: status === "completed" || status === "cancelled" ? status : "failed",
      latency_ms,
    }),
  ];
}

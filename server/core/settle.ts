import { newId } from "./ids.ts";
import type { RunEvent, ToolCompleted } from "./run-event.ts";
import { endStep } from "./step-events.ts";

/** What a call came to. */
export type Result = Omit<ToolCompleted, "tool_call_id" | "step_index" | "tool" | "message_id">;

/** What kind of step a call of a tool is. */
export const stepTypeOf = (toolType: string): "subagent" | "tool_call" =>
  toolType === "agent" ? "subagent" : "tool_call";

/** The result of a call and the end of its step: two events that always stand in one append. */
export function settleCall(
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

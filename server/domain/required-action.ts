import { requireValue } from "../lib/require-value.ts";
import type { RequiredAction, RequiredCall } from "./run-event.ts";
import type { ToolCall } from "./run-state.ts";
import { timestamp } from "./time.ts";

/** Returns the required action of a waiting run, including that of its child runs. `expiresAt` in milliseconds. */
export const requiredAction = (calls: readonly ToolCall[], expiresAt: number): RequiredAction => ({
  type: "submit_tool_outputs",
  submit_tool_outputs: { tool_calls: calls.flatMap((call) => requiredCalls(call, timestamp(expiresAt))) },
});

function requiredCalls(
  { id, tool_id, tool, arguments: args, needs, elicitation, child }: ToolCall,
  expires_at: string,
): RequiredCall[] {
  if (child && child.waits_for.length > 0) return child.waits_for;
  const need = requireValue(needs, "The need of an open call");
  const question = elicitation && { elicitation };
  return [{ id, tool_id, tool, arguments: args, needs: need, ...question, expires_at }];
}

import type { RequiredAction, RequiredCall } from "./run-event.ts";
import type { ToolCall } from "./run-state.ts";
import { timestamp } from "./time.ts";

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

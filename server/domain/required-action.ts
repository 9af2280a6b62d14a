import { requireValue } from "../lib/require-value.ts";
import type { RequiredAction, RequiredCall } from "./run-event.ts";
import type { ToolCall } from "./run-state.ts";
import { timestamp } from "./time.ts";

/** Returns the required action of a waiting run, including that of its child runs. `expiresAt` in milliseconds. */
export const requiredAction = (calls: readonly ToolCall[], expiresAt: number): RequiredAction => ({
  type: "submit_tool_outputs",
  submit_tool_outputs: { tool_calls: calls.flatMap((call) => requiredCalls(call, timestamp(expiresAt))) },
});

/** Returns a required action for clients: an entry refers to a call by `tool_call_id`. */
export const requiredActionObject = ({ type, submit_tool_outputs }: RequiredAction) => ({
  type,
  submit_tool_outputs: { tool_calls: submit_tool_outputs.tool_calls.map(requiredCallObject) },
});
export type RequiredActionObject = ReturnType<typeof requiredActionObject>;

/** Returns a required call for clients; the journal keeps it as `id` and `tool`. */
export const requiredCallObject = ({ id, tool_id, tool, ...rest }: RequiredCall) => ({
  tool_call_id: id,
  tool_id,
  name: tool,
  ...rest,
});
export type RequiredCallObject = ReturnType<typeof requiredCallObject>;

function requiredCalls(
  { id, tool_id, tool, arguments: args, needs, child }: ToolCall,
  expires_at: string,
): RequiredCall[] {
  if (child && child.waits_for.length > 0) return child.waits_for;
  return [{ id, tool_id, tool, arguments: args, needs: requireValue(needs, "The need of an open call"), expires_at }];
}

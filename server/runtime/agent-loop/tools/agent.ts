import type { AgentTool } from "../../../domain/agent-snapshot.ts";
import type { ChildStanding } from "../messages.ts";
import type { ToolRunner } from "./context.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

/** Waits for the child run of a call, which was started when the call was recorded. */
export const run: ToolRunner<AgentTool> = async (call, _tool, { ask }) => {
  const standing = await ask("await_child", { run_id: call.child!.run_id });
  return standing.is === "waiting" ? { child: "waiting", calls: standing.calls } : resultOf(standing);
};

/** Returns the result of a child run as the result of its call. */
function resultOf({ output, output_json, error, usage }: Extract<ChildStanding, { is: "over" }>): ToolResult {
  if (error) return { ...toolError(error.code, error.message), usage };
  return { output: output_json ?? output, error: null, attempts: 1, usage };
}

import type { ToolSnapshot } from "../../../domain/agent-snapshot.ts";
import type { ToolCall } from "../../../domain/run-state.ts";
import * as all from "./all.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import type { ToolOutcome } from "./tool-result.ts";

type RunnableType = Exclude<ToolSnapshot["type"], "client" | "tool_search" | "handoff">;

/** Runners by type of tool. Client tools run at the client; a search needs the run's state, and a handoff changes it. */
const runners: { [Type in RunnableType]: ToolRunner<ToolSnapshot & { type: Type }> } = all;

/** Runs a call by its tool's type. */
export function runTool(
  call: ToolCall,
  tool: ToolSnapshot,
  context: ToolContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (tool.type === "client" || tool.type === "tool_search" || tool.type === "handoff")
    throw new Error(`No runner calls a ${tool.type} tool.`);
  // The runner of this type takes each tool of the type, which the compiler cannot follow through the lookup.
  const run = runners[tool.type] as ToolRunner<ToolSnapshot>;
  return run(call, tool, context, signal);
}

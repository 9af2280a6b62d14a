import type { ToolSnapshot } from "../../../domain/agent-snapshot.ts";
import type { ToolCall } from "../../../domain/run-state.ts";
import * as all from "./all.ts";
import type { ToolContext } from "./context.ts";
import type { ToolOutcome } from "./tool-result.ts";

/** Runs a call by its tool's type. Client tools run at the client. */
export function runTool(
  call: ToolCall,
  tool: ToolSnapshot,
  context: ToolContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  switch (tool.type) {
    case "agent":
      return all.agent(call, tool, context, signal);
    case "code":
      return all.code(call, tool, context, signal);
    case "http":
      return all.http(call, tool, context, signal);
    case "mcp":
      return all.mcp(call, tool, context, signal);
    case "memory":
      return all.memory(call, tool, context, signal);
    case "webhook":
      return all.webhook(call, tool, context, signal);
    case "client":
      throw new Error("A client tool runs at the client.");
    default:
      return tool satisfies never;
  }
}

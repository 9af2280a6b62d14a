import type { AgentSnapshot, ExportedTool, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { redactedJson } from "./redacted-json.ts";

/** An agent of an exported trace. */
export type ExportedAgent = Omit<AgentSnapshot, "tools"> & { tools: ExportedTool[] };

/**
 * Exports an agent: enough to repeat its model's requests, without anything by which a person or service could be
 * reached. Imports accept no other form.
 */
export const exportedAgent = (agent: AgentSnapshot): ExportedAgent =>
  redactedJson({
    ...agent,
    tools: agent.tools.map(exportedTool),
    ...(agent.memory && { memory: { ...agent.memory, stores: [] } }),
  });

function exportedTool(tool: ToolSnapshot): ExportedTool {
  switch (tool.type) {
    case "agent": {
      const { agent: _, ...exported } = tool;
      return exported;
    }
    case "code": {
      const { code: _, ...exported } = tool;
      return exported;
    }
    case "mcp": {
      const { mcp: _, ...exported } = tool;
      return exported;
    }
    case "memory":
      return { ...tool, memory: { ...tool.memory, stores: [] } };
    default:
      return { ...tool, http: null };
  }
}

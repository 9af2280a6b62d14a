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
  const exported: ExportedTool & { code?: object; mcp?: object; agent?: object } = { ...tool, http: null };
  delete exported.code;
  delete exported.mcp;
  delete exported.agent;
  if (exported.memory) exported.memory = { ...exported.memory, stores: [] };
  return exported;
}

import type { AgentSnapshot, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { redactedJson } from "./redacted-json.ts";

/**
 * Exports an agent: enough to repeat its model's requests, without anything by which a person or service could be
 * reached. Imports accept no other form.
 */
export const exportedAgent = (agent: AgentSnapshot): AgentSnapshot =>
  redactedJson({
    ...agent,
    tools: agent.tools.map(exportedTool),
    ...(agent.memory && { memory: { ...agent.memory, stores: [] } }),
  });

function exportedTool({ code: _code, mcp: _mcp, agent: _agent, memory, ...tool }: ToolSnapshot): ToolSnapshot {
  return { ...tool, http: null, ...(memory && { memory: { ...memory, stores: [] } }) };
}

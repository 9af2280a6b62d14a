import type { AgentSnapshot, ToolSnapshot } from "../core/agent-snapshot.ts";
import { redactedJson } from "./redacted-json.ts";

/**
 * An agent as it leaves this server: enough to ask its model the same again, and nothing by which anybody or anything
 * could be reached. Where it is read again, no other is taken.
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

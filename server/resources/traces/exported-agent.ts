import type { AgentSnapshot, ExportedTool, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { redactedJson } from "./redacted-json.ts";

/** An agent of an exported trace. */
export type ExportedAgent = Omit<AgentSnapshot, "tools" | "team"> & { tools: ExportedTool[]; team?: ExportedAgent[] };

/**
 * Exports an agent: enough to repeat its model's requests, without anything by which a person or service could be
 * reached. Imports accept no other form.
 */
export const exportedAgent = ({ team, ...agent }: AgentSnapshot): ExportedAgent =>
  redactedJson({
    ...agent,
    tools: agent.tools.map(exportedTool),
    ...(agent.memory && { memory: { ...agent.memory, stores: [] } }),
    ...(team && { team: team.map(exportedAgent) }),
  });

/** Fields of an exported tool. Settings of its type are none of them, because they have addresses and secrets. */
const exportedFields: Record<keyof ExportedTool, true> = {
  id: true,
  name: true,
  description: true,
  parameters: true,
  type: true,
  approval: true,
  idempotent: true,
  on_unknown: true,
  max_output_bytes: true,
  http: true,
  of_request: true,
  memory: true,
  skill: true,
  handoff: true,
};

function exportedTool(tool: ToolSnapshot): ExportedTool {
  const fields = Object.entries(tool).filter(([name]) => Object.hasOwn(exportedFields, name));
  const exported = { ...Object.fromEntries(fields), http: null } as ExportedTool;
  if (exported.memory) exported.memory = { ...exported.memory, stores: [] };
  if (exported.skill) exported.skill = { ...exported.skill, skills: [] };
  return exported;
}

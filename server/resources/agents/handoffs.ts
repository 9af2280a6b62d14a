import type { AgentHandoff, AgentSnapshot, HandoffTool } from "../../domain/agent-snapshot.ts";
import { noSuch } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import type { HasAgent } from "./has-agent.ts";

/** Throws for a handoff to an agent that does not exist, to the agent itself, or to the same agent twice. */
export function requireHandoffs(
  scope: Scope,
  handoffs: readonly AgentHandoff[],
  agentId: string | null,
  hasAgent: HasAgent,
): void {
  const faults = handoffs.flatMap(({ agent_id }, index): Fault[] => {
    const param = `handoffs[${index}].agent_id`;
    if (agent_id === agentId) return [fault(param, "An agent cannot hand a conversation over to itself.")];
    if (!hasAgent(scope, agent_id)) return [fault(param, noSuch("agent"))];
    const isTwice = handoffs.findIndex((each) => each.agent_id === agent_id) < index;
    return isTwice ? [fault(param, "The agent is named twice.")] : [];
  });
  throwIfInvalid(faults);
}

/** An agent as the tool of a handoff describes it. */
interface Target {
  name: string;
  description: string | null;
}

/**
 * Returns the tools by which a model hands over; `taken` are the names of the agent's other tools. A deleted agent has
 * none.
 */
export function handoffTools(
  handoffs: readonly AgentHandoff[],
  targetOf: (agentId: string) => Target | null,
  taken: ReadonlySet<string>,
): HandoffTool[] {
  const names = new Set(taken);
  return handoffs.flatMap(({ agent_id, description, filter }): HandoffTool[] => {
    const target = targetOf(agent_id);
    if (!target) return [];
    const name = freeName(toolNameOf(target.name), names);
    names.add(name);
    const purpose = description ?? target.description;
    return [
      {
        id: agent_id,
        name,
        description: `Hands the conversation over to ${target.name}, who answers from here on.${purpose ? ` ${purpose}` : ""}`,
        parameters,
        type: "handoff",
        approval: "never",
        idempotent: true,
        on_unknown: "retry",
        max_output_bytes: limits.tool_output_bytes,
        http: null,
        handoff: { agent_id, filter },
      },
    ];
  });
}

const parameters = {
  type: "object",
  properties: { reason: { type: "string", description: "Why, in a sentence. The other agent reads it." } },
  additionalProperties: false,
};

// Providers take at most 64 characters.
const nameMost = 60;

/** Returns the tool's name: letters and digits of the agent's, as providers accept them. */
function toolNameOf(agentName: string): string {
  const word = agentName
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  return `transfer_to_${word || "agent"}`.slice(0, nameMost);
}

function freeName(baseName: string, taken: ReadonlySet<string>): string {
  let name = baseName;
  for (let count = 2; taken.has(name); count++) name = `${baseName}_${count}`;
  return name;
}

/** Returns the ids that handoffs lead to from an agent, the nearest first, without the agent itself. */
export function reachedBy(agentId: string, handoffsOf: (agentId: string) => readonly AgentHandoff[]): string[] {
  const found = [agentId];
  for (let index = 0; index < found.length && found.length <= limits.agents_per_team; index++)
    for (const { agent_id } of handoffsOf(found[index] ?? ""))
      if (!found.includes(agent_id) && found.length <= limits.agents_per_team) found.push(agent_id);
  return found.slice(1);
}

/** Removes the handoffs to agents that the run does not reach any more: their tools would only fail. */
export function withinTeam(agent: AgentSnapshot, ids: ReadonlySet<string>): AgentSnapshot {
  const tools = agent.tools.filter((tool) => tool.type !== "handoff" || ids.has(tool.handoff.agent_id));
  return tools.length === agent.tools.length ? agent : { ...agent, tools };
}

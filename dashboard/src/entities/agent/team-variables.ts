import { useQuery } from "@tanstack/react-query";
import type { Variable } from "../../../../server/domain/variable.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { agentApi } from "./agent-api.ts";

type WithHandoffs = Pick<Agent, "id" | "variables" | "handoffs">;

/** Returns the variables of an agent, and of the agents that it may hand over to: each once, the nearest first. */
export function teamVariables(agent: WithHandoffs, agents: readonly WithHandoffs[]): Variable[] {
  const byId = new Map(agents.map((each) => [each.id, each]));
  const reached = new Set([agent]);
  // A set is iterated together with what is added meanwhile.
  for (const each of reached)
    for (const { agent_id } of each.handoffs) {
      const next = agent_id === agent.id ? agent : byId.get(agent_id);
      if (next) reached.add(next);
    }
  const variables = [...reached].flatMap((each) => each.variables);
  return variables.filter(({ name }, index) => variables.findIndex((each) => each.name === name) === index);
}

const none: readonly WithHandoffs[] = [];

/** The same for the agents of the workspace; undefined while they are unknown. */
export function useKnownTeamVariables(agent: WithHandoffs | undefined): Variable[] | undefined {
  const query = agentApi.every(useWorkspace());
  const hasHandoffs = (agent?.handoffs.length ?? 0) > 0;
  const agents = useQuery({ ...query, enabled: hasHandoffs }).data ?? (hasHandoffs ? undefined : none);
  return agent && agents && teamVariables(agent, agents);
}

/** The same, with those of the agent alone while others are unknown. */
export const useTeamVariables = (agent: WithHandoffs | undefined): Variable[] =>
  useKnownTeamVariables(agent) ?? (agent ? teamVariables(agent, none) : []);

import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";

/**
 * Returns the names of the agents that made the model calls, by the id of the step; none in a run without handoffs.
 * `first` is the run's own agent.
 */
export function answeringAgents(steps: readonly TraceStep[], first: string): ReadonlyMap<string, string> {
  const agents = new Map<string, string>();
  if (!steps.some(({ handoff }) => handoff)) return agents;
  let agent = first;
  for (const { id, type, handoff } of steps) {
    if (handoff) agent = handoff.agent_name;
    else if (type === "model_call") agents.set(id, agent);
  }
  return agents;
}

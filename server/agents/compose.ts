import type { Base, Part } from "../http/part.ts";
import { agentRoutes } from "./routes.ts";
import { type AgentStoreOptions, createAgentStore } from "./store.ts";

/** Agents, with what they pin of others. */
export function composeAgents({
  connections,
  tools,
  memory,
  ...base
}: Base & {
  connections: {
    isAvailable: AgentStoreOptions["modelAvailable"];
    requireThere: NonNullable<AgentStoreOptions["requireThere"]>;
  };
  tools: { snapshots: AgentStoreOptions["toolSnapshots"] };
  memory: { facts: AgentStoreOptions["memoryFacts"] };
}) {
  const agents = createAgentStore({
    ...base,
    modelAvailable: connections.isAvailable,
    requireThere: connections.requireThere,
    toolSnapshots: tools.snapshots,
    memoryFacts: memory.facts,
  });
  return { routes: (auth) => [agentRoutes({ auth, agents })], ports: agents } satisfies Part;
}

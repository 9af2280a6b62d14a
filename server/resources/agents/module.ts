import type { Base, Module } from "../../http/module.ts";
import { agentRoutes } from "./routes.ts";
import { type AgentStoreOptions, createAgentStore } from "./store.ts";

/** Agents and the snapshots that runs pin. */
export function createAgentsModule({
  connections,
  tools,
  memory,
  ...base
}: Base & {
  connections: {
    isAvailable: AgentStoreOptions["modelAvailable"];
    requireModelAvailable: NonNullable<AgentStoreOptions["requireModelAvailable"]>;
  };
  tools: { snapshots: AgentStoreOptions["toolSnapshots"] };
  memory: { facts: AgentStoreOptions["memoryFacts"] };
}) {
  const agents = createAgentStore({
    ...base,
    modelAvailable: connections.isAvailable,
    requireModelAvailable: connections.requireModelAvailable,
    toolSnapshots: tools.snapshots,
    memoryFacts: memory.facts,
  });
  return { routes: (auth) => [agentRoutes({ auth, agents })], exports: agents } satisfies Module;
}

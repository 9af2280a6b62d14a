import type { Base, Module } from "../../http/module.ts";
import type { MemoryModule } from "../memory/module.ts";
import type { ConnectionsModule } from "../model-connections/module.ts";
import type { SecretsModule } from "../secrets/module.ts";
import type { SkillsModule } from "../skills/module.ts";
import type { SnippetsModule } from "../snippets/module.ts";
import type { ToolsModule } from "../tools/module.ts";
import type { HasAgent } from "./has-agent.ts";
import { agentRoutes } from "./routes.ts";
import { createAgentStore } from "./store.ts";

export type AgentsModule = ReturnType<typeof createAgentsModule>;

interface Needs {
  base: Base;
  connections: ConnectionsModule;
  tools: ToolsModule;
  memory: MemoryModule;
  hasAgent: HasAgent;
  secrets: SecretsModule;
  snippets: SnippetsModule;
  skills: SkillsModule;
}

/** Agents and the snapshots that runs pin. */
export function createAgentsModule({ base, connections, tools, memory, hasAgent, secrets, snippets, skills }: Needs) {
  const agents = createAgentStore({
    ...base,
    modelAvailable: connections.store.isAvailable,
    requireModelAvailable: connections.store.requireModelAvailable,
    toolSnapshots: tools.store.snapshots,
    memoryFacts: memory.stores.facts,
    skills: skills.store,
    hasAgent,
    hasSecret: secrets.store.has,
    pinnedSnippet: snippets.store.pinned,
  });
  return { routes: (auth) => [agentRoutes({ auth, agents })], store: agents } satisfies Module;
}

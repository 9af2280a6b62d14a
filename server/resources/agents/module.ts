import type { Base, Module } from "../../http/module.ts";
import type { AgentResolver } from "../labels/module.ts";
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
  resolver: AgentResolver;
  secrets: SecretsModule;
  snippets: SnippetsModule;
  skills: SkillsModule;
}

/** Agents and the snapshots that runs pin. */
export function createAgentsModule({ base, connections, tools, memory, secrets, snippets, skills, ...needs }: Needs) {
  const { hasAgent, resolver } = needs;
  const agents = createAgentStore({
    ...base,
    modelAvailable: connections.store.isAvailable,
    requireModelAvailable: connections.store.requireModelAvailable,
    toolSnapshots: tools.store.snapshots,
    memoryFacts: memory.stores.facts,
    skills: skills.store,
    hasAgent,
    resolveAgent: resolver.resolve,
    chooseVersion: (scope, choice, key) => resolver.chooseIfThere(scope, choice, key)?.version,
    hasSecret: secrets.store.has,
    pinnedSnippet: snippets.store.pinned,
  });
  return { routes: (auth) => [agentRoutes({ auth, agents })], store: agents } satisfies Module;
}

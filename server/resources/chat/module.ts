import type { Base, Module } from "../../http/module.ts";
import type { AgentsModule } from "../agents/module.ts";
import type { AgentResolver } from "../labels/module.ts";
import { chatPageRoutes } from "./routes.ts";
import { createChatPageStore } from "./store.ts";

export type ChatModule = ReturnType<typeof createChatModule>;

/** Chat pages of agents. */
export function createChatModule({
  base,
  agents,
  resolver,
}: {
  base: Base;
  agents: AgentsModule;
  resolver: AgentResolver;
}) {
  const pages = createChatPageStore({
    ...base,
    hasAgent: agents.store.has,
    requireLabel: (viewer, agent_id, label) => void resolver.resolve(viewer, { agent_id, label }),
  });
  return { routes: (auth) => [chatPageRoutes({ auth, pages })], store: pages } satisfies Module;
}

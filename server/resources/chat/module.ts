import type { Base, Module } from "../../http/module.ts";
import type { AgentsModule } from "../agents/module.ts";
import { chatPageRoutes } from "./routes.ts";
import { createChatPageStore } from "./store.ts";

export type ChatModule = ReturnType<typeof createChatModule>;

/** Chat pages of agents. */
export function createChatModule({ base, agents }: { base: Base; agents: AgentsModule }) {
  const pages = createChatPageStore({ ...base, hasAgent: agents.store.has });
  return { routes: (auth) => [chatPageRoutes({ auth, pages })], store: pages } satisfies Module;
}

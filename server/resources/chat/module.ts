import type { Viewer } from "../../http/auth.ts";
import type { Base, Module } from "../../http/module.ts";
import { chatPageRoutes } from "./routes.ts";
import { createChatPageStore } from "./store.ts";

/** Chat pages of agents. */
export function createChatModule({ agents, ...base }: Base & { agents: { has(viewer: Viewer, id: string): boolean } }) {
  const pages = createChatPageStore({ ...base, hasAgent: agents.has });
  return { routes: (auth) => [chatPageRoutes({ auth, pages })], exports: { pages } } satisfies Module;
}

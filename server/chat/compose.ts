import type { Viewer } from "../http/auth.ts";
import type { Base, Part } from "../http/part.ts";
import { chatPageRoutes } from "./routes.ts";
import { createChatPageStore } from "./store.ts";

/** Chat pages of agents. */
export function composeChat({ agents, ...base }: Base & { agents: { has(viewer: Viewer, id: string): boolean } }) {
  const pages = createChatPageStore({ ...base, hasAgent: agents.has });
  return { routes: (auth) => [chatPageRoutes({ auth, pages })], ports: { pages } } satisfies Part;
}

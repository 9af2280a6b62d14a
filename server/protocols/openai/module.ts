import type { ProtocolPlugin } from "../../http/module.ts";
import type { ProtocolModules } from "../modules.ts";
import { conversationRoutes } from "./conversations/routes.ts";
import { responseRoutes } from "./responses/routes.ts";
import { openAiRoutes } from "./routes.ts";
import { storeRoutes } from "./stores/routes.ts";

/** Agents as models, for clients of OpenAI's API. */
export function createOpenAi(modules: ProtocolModules): ProtocolPlugin[] {
  const { journal } = modules.journals;
  const { store: connections, prices, catalog } = modules.connections;
  const { embedders, stores, entries } = modules.memory;
  const { store: runs, tail, openStream } = modules.runs;
  const models = {
    agents: modules.agents.store,
    resolver: modules.resolver,
    connections,
    prices,
    catalog,
    making: new Map(),
  };
  return [
    (access) => openAiRoutes({ ...access, ...models, runs, journal, openStream }),
    (access) => conversationRoutes(access),
    (access) => responseRoutes({ ...access, ...models, runs, journal, tail, openStream }),
    (access) => storeRoutes({ ...access, embedders, stores, entries }),
  ];
}

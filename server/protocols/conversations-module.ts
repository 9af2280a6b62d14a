import type { ProtocolPlugin } from "../http/module.ts";
import { agUiRoutes } from "./ag-ui/routes.ts";
import { aiSdkRoutes } from "./ai-sdk/routes.ts";
import type { ProtocolModules } from "./modules.ts";

/** Agents for user interfaces built with the AI SDK, or with AG-UI. */
export function createConversationProtocols({ journals, agents, threads, runs }: ProtocolModules): ProtocolPlugin[] {
  const needs = {
    agents: agents.store,
    chats: threads.store.chats,
    runs: runs.store,
    journal: journals.journal,
    openStream: runs.openStream,
  };
  return [(access) => aiSdkRoutes({ ...access, ...needs }), (access) => agUiRoutes({ ...access, ...needs })];
}

import type { ProtocolPlugin } from "../http/module.ts";
import { createA2a } from "./a2a/module.ts";
import { agUiRoutes } from "./ag-ui/routes.ts";
import { aiSdkRoutes } from "./ai-sdk/routes.ts";
import { createChatPages } from "./chat/module.ts";
import { createDurableStreams } from "./durable-streams/module.ts";
import { createMcp } from "./mcp/module.ts";
import type { ProtocolModules } from "./modules.ts";
import { createOpenAi } from "./openai/module.ts";

/** Other protocols over the same API. */
export const createProtocols = (modules: ProtocolModules): ProtocolPlugin[] => [
  createA2a(modules),
  createMcp(modules),
  createDurableStreams(modules),
  ...createConversationProtocols(modules),
  createChatPages(modules),
  ...createOpenAi(modules),
];

/** Agents for user interfaces built with the AI SDK, or with AG-UI. */
function createConversationProtocols({ journals, agents, resolver, threads, runs }: ProtocolModules): ProtocolPlugin[] {
  const needs = {
    agents: agents.store,
    resolver,
    chats: threads.store.chats,
    runs: runs.store,
    journal: journals.journal,
    openStream: runs.openStream,
  };
  return [(access) => aiSdkRoutes({ ...access, ...needs }), (access) => agUiRoutes({ ...access, ...needs })];
}

import type { ProtocolPlugin } from "../http/module.ts";
import { createA2a } from "./a2a/module.ts";
import { createChatPages } from "./chat/module.ts";
import { createConversationProtocols } from "./conversations-module.ts";
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

import type { Module, ProtocolPlugin } from "../http/module.ts";
import { createA2aModule } from "./a2a/module.ts";
import { composeChatDoor } from "./chat/module.ts";
import { composeConversations } from "./conversations-module.ts";
import { composeDurableStreams } from "./durable-streams/module.ts";
import { createMcpModule } from "./mcp/module.ts";
import { composeOpenAi } from "./openai/module.ts";

/** Dependencies of all protocols. */
type Needs = Parameters<typeof createA2aModule>[0] &
  (Parameters<typeof composeConversations>[0] & Parameters<typeof composeChatDoor>[0]) &
  (Parameters<typeof composeDurableStreams>[0] &
    Parameters<typeof createMcpModule>[0] &
    Parameters<typeof composeOpenAi>[0]);

/** Other protocols over the same API. */
export function createProtocolsModule(needs: Needs) {
  const a2a = createA2aModule(needs);
  const { aiSdk, agUi } = composeConversations(needs).exports;
  return {
    exports: {
      followed: a2a.exports.followed,
      doors: [
        ...[a2a, createMcpModule(needs), composeDurableStreams(needs)].map(({ exports }) => exports.routes),
        aiSdk,
        agUi,
        composeChatDoor(needs).exports.routes,
        ...composeOpenAi(needs).exports.doors,
      ] satisfies ProtocolPlugin[],
    },
  } satisfies Module;
}

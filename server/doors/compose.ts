import type { Door, Part } from "../http/part.ts";
import { composeA2a } from "./a2a/compose.ts";
import { composeChatDoor } from "./chat/compose.ts";
import { composeConversations } from "./compose-conversations.ts";
import { composeDurableStreams } from "./durable-streams/compose.ts";
import { composeMcp } from "./mcp/compose.ts";
import { composeOpenAi } from "./openai/compose.ts";

/** All that the doors are made of. */
type Needs = Parameters<typeof composeA2a>[0] &
  (Parameters<typeof composeConversations>[0] & Parameters<typeof composeChatDoor>[0]) &
  (Parameters<typeof composeDurableStreams>[0] &
    Parameters<typeof composeMcp>[0] &
    Parameters<typeof composeOpenAi>[0]);

/** Other protocols over the same API. */
export function composeDoors(needs: Needs) {
  const a2a = composeA2a(needs);
  const { aiSdk, agUi } = composeConversations(needs).ports;
  return {
    ports: {
      followed: a2a.ports.followed,
      doors: [
        ...[a2a, composeMcp(needs), composeDurableStreams(needs)].map(({ ports }) => ports.routes),
        aiSdk,
        agUi,
        composeChatDoor(needs).ports.routes,
        ...composeOpenAi(needs).ports.doors,
      ] satisfies Door[],
    },
  } satisfies Part;
}

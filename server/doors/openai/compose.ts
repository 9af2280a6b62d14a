import type { AgentStore } from "../../agents/store.ts";
import type { PriceStore } from "../../connections/prices.ts";
import type { ConnectionStore } from "../../connections/store.ts";
import type { Base, Part } from "../../http/part.ts";
import type { DoorAccess } from "../../http/within.ts";
import type { Journals } from "../../journal/compose.ts";
import type { Embedders } from "../../memory/embedding.ts";
import type { EntryStore } from "../../memory/entries.ts";
import type { MemoryStores } from "../../memory/store.ts";
import type { RunPorts } from "../../runs/compose.ts";
import { conversationRoutes } from "./conversations/routes.ts";
import { responseRoutes } from "./responses/routes.ts";
import { openAiRoutes } from "./routes.ts";
import { storeRoutes } from "./stores/routes.ts";

/** Agents as models, for clients of OpenAI's API. */
export const composeOpenAi = ({
  agents,
  connections,
  runs: { runs, tail, openStream },
  journals: { journal },
  memory: { embedders, stores, entries },
  publicEgress,
}: Pick<Base, "publicEgress"> & {
  agents: AgentStore;
  connections: { connections: ConnectionStore; prices: PriceStore };
  runs: RunPorts;
  journals: Pick<Journals, "journal">;
  memory: { embedders: Embedders; stores: MemoryStores; entries: EntryStore };
}) => {
  const models = { ...connections, agents, making: new Map() };
  return {
    ports: {
      doors: [
        (access: DoorAccess) => openAiRoutes({ ...access, ...models, runs, journal, openStream, publicEgress }),
        (access: DoorAccess) => conversationRoutes({ ...access, publicEgress }),
        (access: DoorAccess) => responseRoutes({ ...access, ...models, runs, journal, tail, openStream, publicEgress }),
        (access: DoorAccess) => storeRoutes({ ...access, embedders, stores, entries }),
      ],
    },
  } satisfies Part;
};

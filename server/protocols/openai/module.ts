import type { ProtocolAccess } from "../../http/internal-client.ts";
import type { Base, Module } from "../../http/module.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { Embedders } from "../../resources/memory/embedding.ts";
import type { EntryStore } from "../../resources/memory/entries.ts";
import type { MemoryStores } from "../../resources/memory/store.ts";
import type { PriceStore } from "../../resources/model-connections/prices.ts";
import type { ConnectionStore } from "../../resources/model-connections/store.ts";
import type { RunPorts } from "../../runs/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
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
    exports: {
      doors: [
        (access: ProtocolAccess) => openAiRoutes({ ...access, ...models, runs, journal, openStream, publicEgress }),
        (access: ProtocolAccess) => conversationRoutes({ ...access, publicEgress }),
        (access: ProtocolAccess) =>
          responseRoutes({ ...access, ...models, runs, journal, tail, openStream, publicEgress }),
        (access: ProtocolAccess) => storeRoutes({ ...access, embedders, stores, entries }),
      ],
    },
  } satisfies Module;
};

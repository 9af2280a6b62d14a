import type { AgentStore } from "../../agents/store.ts";
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
  runs: { runs, tail, openStream },
  journals: { journal },
  memory: { embedders, stores, entries },
  publicEgress,
}: Pick<Base, "publicEgress"> & {
  agents: AgentStore;
  runs: RunPorts;
  journals: Pick<Journals, "journal">;
  memory: { embedders: Embedders; stores: MemoryStores; entries: EntryStore };
}) =>
  ({
    ports: {
      doors: [
        (access: DoorAccess) => openAiRoutes({ ...access, agents, runs, journal, openStream, publicEgress }),
        (access: DoorAccess) => conversationRoutes({ ...access, publicEgress }),
        (access: DoorAccess) => responseRoutes({ ...access, agents, runs, journal, tail, openStream, publicEgress }),
        (access: DoorAccess) => storeRoutes({ ...access, embedders, stores, entries }),
      ],
    },
  }) satisfies Part;

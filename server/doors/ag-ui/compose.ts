import type { AgentStore } from "../../agents/store.ts";
import type { Part } from "../../http/part.ts";
import type { DoorAccess } from "../../http/within.ts";
import type { Journals } from "../../journal/compose.ts";
import type { RunPorts } from "../../runs/compose.ts";
import type { ThreadStore } from "../../threads/store.ts";
import { agUiRoutes } from "./routes.ts";

/** Agents for user interfaces that speak AG-UI. */
export const composeAgUi = ({
  agents,
  threads: { chats },
  runs: { runs, openStream },
  journals: { journal },
}: {
  agents: AgentStore;
  threads: Pick<ThreadStore, "chats">;
  runs: RunPorts;
  journals: Pick<Journals, "journal">;
}) =>
  ({
    ports: { routes: (access: DoorAccess) => agUiRoutes({ ...access, agents, chats, runs, journal, openStream }) },
  }) satisfies Part;

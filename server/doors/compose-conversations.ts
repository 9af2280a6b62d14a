import type { AgentStore } from "../agents/store.ts";
import type { Part } from "../http/part.ts";
import type { DoorAccess } from "../http/within.ts";
import type { Journals } from "../journal/compose.ts";
import type { RunPorts } from "../runs/compose.ts";
import type { ThreadStore } from "../threads/store.ts";
import { agUiRoutes } from "./ag-ui/routes.ts";
import { aiSdkRoutes } from "./ai-sdk/routes.ts";

/** Agents for user interfaces that are made with the AI SDK, or that speak AG-UI. */
export const composeConversations = ({
  agents,
  threads: { chats },
  runs: { runs, openStream },
  journals: { journal },
}: {
  agents: AgentStore;
  threads: Pick<ThreadStore, "chats">;
  runs: RunPorts;
  journals: Pick<Journals, "journal">;
}) => {
  const needs = { agents, chats, runs, journal, openStream };
  return {
    ports: {
      aiSdk: (access: DoorAccess) => aiSdkRoutes({ ...access, ...needs }),
      agUi: (access: DoorAccess) => agUiRoutes({ ...access, ...needs }),
    },
  } satisfies Part;
};

import type { ProtocolAccess } from "../http/internal-client.ts";
import type { Module } from "../http/module.ts";
import type { AgentStore } from "../resources/agents/store.ts";
import type { ThreadStore } from "../resources/threads/store.ts";
import type { RunPorts } from "../runs/module.ts";
import type { Journals } from "../storage/journal/module.ts";
import { agUiRoutes } from "./ag-ui/routes.ts";
import { aiSdkRoutes } from "./ai-sdk/routes.ts";

/** Agents for user interfaces built with the AI SDK, or with AG-UI. */
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
    exports: {
      aiSdk: (access: ProtocolAccess) => aiSdkRoutes({ ...access, ...needs }),
      agUi: (access: ProtocolAccess) => agUiRoutes({ ...access, ...needs }),
    },
  } satisfies Module;
};

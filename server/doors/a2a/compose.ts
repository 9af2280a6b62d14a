import type { AgentStore } from "../../agents/store.ts";
import type { Base, Part } from "../../http/part.ts";
import type { DoorAccess } from "../../http/within.ts";
import type { RunPorts } from "../../runs/compose.ts";
import { createOperations } from "./operations.ts";
import { a2aRoutes } from "./routes.ts";
import { createA2aServer } from "./server.ts";

/** Agents for other agents, by the Agent2Agent protocol. */
export function composeA2a({
  publicUrl,
  closing,
  agents,
  runs: { runs, service, openStream },
}: Base & { agents: AgentStore; runs: RunPorts }) {
  return {
    ports: {
      routes({ identify, noLongerValid, api }: DoorAccess) {
        const { settled } = service;
        const operations = createOperations({ agents, runs, settled, openStream, api, noLongerValid, closing });
        return a2aRoutes(createA2aServer({ agents, operations, identify, publicUrl }));
      },
    },
  } satisfies Part;
}

import type { AgentStore } from "../../agents/store.ts";
import type { Idempotency } from "../../http/idempotency.ts";
import type { Base, Part } from "../../http/part.ts";
import type { DoorAccess } from "../../http/within.ts";
import type { RunPorts } from "../../runs/compose.ts";
import type { Followers } from "../../webhooks/followers.ts";
import type { Followed } from "../../webhooks/payload.ts";
import { createOperations } from "./operations.ts";
import { a2aRoutes } from "./routes.ts";
import { createA2aServer } from "./server.ts";
import { taskOf } from "./tasks.ts";

/** Agents for other agents, by the Agent2Agent protocol. */
export function composeA2a({
  publicUrl,
  ending,
  agents,
  runs: { runs, service, openStream },
  followers,
  http: { idempotency },
}: Base & {
  agents: AgentStore;
  runs: RunPorts;
  followers: Followers;
  http: { idempotency: Pick<Idempotency, "runOf"> };
}) {
  return {
    ports: {
      /** How a task is told to those who have asked for notifications. */
      followed: { body: (run) => JSON.stringify({ task: taskOf(run, { history: 0 }) }) } satisfies Followed,
      routes({ identify, noLongerValid, api }: DoorAccess) {
        const { settled } = service;
        const operations = createOperations({
          agents,
          runs,
          settled,
          openStream,
          api,
          noLongerValid,
          ending,
          followers,
          publicUrl,
          idempotency,
        });
        return a2aRoutes(createA2aServer({ agents, operations, identify, publicUrl }));
      },
    },
  } satisfies Part;
}

import type { Idempotency } from "../../http/idempotency.ts";
import type { ProtocolAccess } from "../../http/internal-client.ts";
import type { Base, Module } from "../../http/module.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { Followed } from "../../resources/webhooks/payload.ts";
import type { RunWebhooks } from "../../resources/webhooks/run-webhooks.ts";
import type { RunPorts } from "../../runs/module.ts";
import { createOperations } from "./operations.ts";
import { a2aRoutes } from "./routes.ts";
import { createA2aServer } from "./server.ts";
import { taskOf } from "./tasks.ts";

/** Agents for other agents, by the Agent2Agent protocol. */
export function createA2aModule({
  publicUrl,
  abortSignalOf,
  agents,
  runs: { runs, service, openStream },
  followers,
  http: { idempotency },
}: Base & {
  agents: AgentStore;
  runs: RunPorts;
  followers: RunWebhooks;
  http: { idempotency: Pick<Idempotency, "runOf"> };
}) {
  return {
    exports: {
      /** Body of a task's push notifications. */
      followed: { body: (run) => JSON.stringify({ task: taskOf(run, { history: 0 }) }) } satisfies Followed,
      routes({ identify, noLongerValid, api }: ProtocolAccess) {
        const { settled } = service;
        const operations = createOperations({
          agents,
          runs,
          settled,
          openStream,
          api,
          noLongerValid,
          ending: abortSignalOf,
          followers,
          publicUrl,
          idempotency,
        });
        return a2aRoutes(createA2aServer({ agents, operations, identify, publicUrl }));
      },
    },
  } satisfies Module;
}

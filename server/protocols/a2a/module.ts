import type { ProtocolPlugin } from "../../http/module.ts";
import type { ProtocolModules } from "../modules.ts";
import { createOperations } from "./operations.ts";
import { a2aRoutes } from "./routes.ts";
import { createA2aServer } from "./server.ts";

/** Agents for other agents, by the Agent2Agent protocol. */
export function createA2a({ base, http, agents, resolver, webhooks, runs }: ProtocolModules): ProtocolPlugin {
  const { publicUrl, abortSignalOf } = base;
  return ({ identify, noLongerValid, api }) => {
    const operations = createOperations({
      agents: agents.store,
      runs: runs.store,
      settled: runs.service.settled,
      openStream: runs.openStream,
      api,
      noLongerValid,
      ending: abortSignalOf,
      followers: webhooks.followers,
      publicUrl,
      idempotency: http.idempotency,
    });
    return a2aRoutes(createA2aServer({ agents: agents.store, resolver, operations, identify, publicUrl }));
  };
}

import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import type { RunService } from "../runs/service.ts";
import type { Watches } from "../runs/watch.ts";
import { type CallbackRoutes, callbackRoutes } from "./routes.ts";
import { createCallbacks } from "./service.ts";

export interface CallbackOptions {
  /** Where clients reach this server, without a path; webhooks are told to answer there. */
  publicUrl?: () => string;
}

/** Where webhook tools answer. */
export function composeCallbacks({
  http: { limiter, clientOf },
  journals: { journal },
  projects,
  runs: { service, watches },
  publicUrl: baseUrl = () => "http://127.0.0.1",
  ...base
}: Base &
  CallbackOptions & {
    http: Pick<CallbackRoutes, "limiter" | "clientOf">;
    journals: Pick<Journals, "journal">;
    projects: { settingsOf(projectId: string): ReturnType<CallbackRoutes["limitsOf"]> };
    runs: { service: Pick<RunService, "submit">; watches: Watches };
  }) {
  const { db, seal, log } = base;
  const callbacks = createCallbacks({ db, journal, watches, service, seal, baseUrl, log });
  const limitsOf: CallbackRoutes["limitsOf"] = ({ project_id }) => projects.settingsOf(project_id);
  return {
    ports: {
      addressOf: callbacks.addressOf,
      /** They need no key: their address is the permission. */
      routes: () => callbackRoutes({ callbacks, limiter, limitsOf, clientOf }),
    },
    start: callbacks.recover,
    stop: callbacks.stop,
  } satisfies Part;
}

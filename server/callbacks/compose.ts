import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import type { RunService } from "../runs/service.ts";
import type { Watches } from "../runs/watch.ts";
import { type CallbackRoutes, callbackRoutes } from "./routes.ts";
import { createCallbacks } from "./service.ts";

/** Where webhook tools answer. */
export function composeCallbacks({
  http: { limiter, clientOf },
  journals: { journal },
  projects,
  runs: { service, watches },
  naming = false,
  ...base
}: Base & {
  /** Whether addresses name the project, for whoever brings requests to where that is kept. */
  naming?: boolean;
  http: Pick<CallbackRoutes, "limiter" | "clientOf">;
  journals: Pick<Journals, "journal">;
  projects: { settingsOf(projectId: string): ReturnType<CallbackRoutes["limitsOf"]> };
  runs: { service: Pick<RunService, "submit">; watches: Watches };
}) {
  const { db, seal, publicUrl, log } = base;
  const callbacks = createCallbacks({ db, journal, watches, service, seal, baseUrl: publicUrl, naming, log });
  const limitsOf: CallbackRoutes["limitsOf"] = ({ project_id }) => projects.settingsOf(project_id);
  return {
    ports: {
      addressOf: callbacks.addressOf,
      /** They need no key: their address is the permission. */
      routes: () => callbackRoutes({ callbacks, limiter, limitsOf, clientOf }),
    },
    start: callbacks.recover,
    arrived: callbacks.recover,
    stop: callbacks.stop,
  } satisfies Part;
}

import type { Base, Module } from "../../http/module.ts";
import type { RunService } from "../../runs/service.ts";
import type { RunSubscriptions } from "../../runs/stream/run-subscriptions.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { type CallbackRoutes, callbackRoutes } from "./routes.ts";
import { createCallbacks } from "./service.ts";

/** Receives the results of webhook tools. */
export function createCallbacksModule({
  http: { limiter, clientOf },
  journals: { journal },
  projects,
  runs: { service, watches },
  naming = false,
  ...base
}: Base & {
  /** True if callback URLs contain the project, so that a cluster can route them to its cell. */
  naming?: boolean;
  http: Pick<CallbackRoutes, "limiter" | "clientOf">;
  journals: Pick<Journals, "journal">;
  projects: { settingsOf(projectId: string): ReturnType<CallbackRoutes["limitsOf"]> };
  runs: { service: Pick<RunService, "submit">; watches: RunSubscriptions };
}) {
  const { db, seal, publicUrl, log } = base;
  const callbacks = createCallbacks({ db, journal, watches, service, seal, baseUrl: publicUrl, naming, log });
  const limitsOf: CallbackRoutes["limitsOf"] = ({ project_id }) => projects.settingsOf(project_id);
  return {
    exports: {
      addressOf: callbacks.addressOf,
      /** Needs no key: the URL is the permission. */
      routes: () => callbackRoutes({ callbacks, limiter, limitsOf, clientOf }),
    },
    start: callbacks.recover,
    onProjectArrived: callbacks.recover,
    stop: callbacks.stop,
  } satisfies Module;
}

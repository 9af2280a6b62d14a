import type { HttpModule } from "../../http/create-http.ts";
import type { Base, Module } from "../../http/module.ts";
import type { ProjectsModule } from "../../resources/projects/module.ts";
import type { RunsModule } from "../../runs/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { CallbackUrls } from "./callback-urls.ts";
import { callbackRoutes } from "./routes.ts";
import { createCallbacks } from "./service.ts";

interface Needs {
  base: Base;
  http: HttpModule;
  journals: Journals;
  projects: ProjectsModule;
  runs: RunsModule;
  urls: CallbackUrls;
}

/** Receives the results of webhook tools. */
export function createCallbacksModule({ base, http, journals, projects, runs, urls }: Needs) {
  const { db, seal, log } = base;
  const { limiter, clientOf } = http;
  const { journal } = journals;
  const { service, watches } = runs;
  const callbacks = createCallbacks({ db, journal, watches, service, seal, urls, log });
  const limitsOf = ({ project_id }: { project_id: string }) => projects.store.settingsOf(project_id);
  return {
    /** Needs no key: the URL is the permission. */
    plugin: callbackRoutes({ callbacks, limiter, limitsOf, clientOf }),
    start: callbacks.recover,
    onProjectArrived: callbacks.recover,
    stop: callbacks.stop,
  } satisfies Module;
}

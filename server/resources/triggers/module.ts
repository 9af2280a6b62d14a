import { everyAgent } from "../../domain/handoff.ts";
import type { HttpModule } from "../../http/create-http.ts";
import type { Base, Module } from "../../http/module.ts";
import type { AgentsModule } from "../agents/module.ts";
import type { AgentResolver } from "../labels/module.ts";
import type { ProjectsModule } from "../projects/module.ts";
import type { ThreadsModule } from "../threads/module.ts";
import type { TriggerDeliveries } from "./deliveries.ts";
import { createReceiver, type StartEventRun } from "./receive.ts";
import { publicTriggerRoutes, triggerRoutes } from "./routes.ts";
import { createTriggerStore, type TriggerStoreOptions } from "./store.ts";

interface Needs {
  base: Base;
  http: HttpModule;
  projects: ProjectsModule;
  agents: AgentsModule;
  resolver: AgentResolver;
  threads: ThreadsModule;
  deliveries: TriggerDeliveries;
  startRun: StartEventRun;
  checkRun: TriggerStoreOptions["checkRun"];
  /** True in a cluster: addresses contain the project. */
  naming: boolean;
}

/** Runs that signed events from outside start. */
export function createTriggersModule({ base, http, projects, agents, resolver, threads, deliveries, ...needs }: Needs) {
  const { naming, ...runs } = needs;
  const { publicUrl } = base;
  const variablesOf: TriggerStoreOptions["variablesOf"] = (viewer, choice, key) => {
    const { version } = resolver.choose(viewer, choice, key);
    return everyAgent(agents.store.snapshot(viewer, choice.agent_id, {}, version, key)).flatMap(
      (each) => each.variables ?? [],
    );
  };
  const triggers = createTriggerStore({
    ...base,
    resolveAgent: resolver.resolve,
    variablesOf,
    checkRun: runs.checkRun,
    urlOf: ({ id, project_id }) => `${publicUrl()}/triggers/${id}${naming ? `.${project_id}` : ""}`,
  });
  const receive = createReceiver({
    ...base,
    triggers,
    deliveries,
    variablesOf,
    threads: threads.store.chats,
    start: runs.startRun,
    limiter: http.limiter,
    clientOf: http.clientOf,
    limitsOf: ({ project_id }) => projects.store.settingsOf(project_id),
    isOpen: projects.store.isOpen,
  });
  return {
    routes: (auth) => [triggerRoutes({ auth, triggers, deliveries })],
    /** The public address, which needs no key. */
    plugin: publicTriggerRoutes({ receive }),
  } satisfies Module;
}

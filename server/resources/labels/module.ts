import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import type { Base, Module } from "../../http/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { WebhooksModule } from "../webhooks/module.ts";
import { createLabelRuns } from "./label-runs.ts";
import type { createAgentResolver } from "./resolve-agent.ts";
import { labelRoutes } from "./routes.ts";
import { createLabelStore } from "./store.ts";

/** Finds the agents that requests name; created before the modules that use it. */
export type AgentResolver = ReturnType<typeof createAgentResolver>;

export type LabelsModule = ReturnType<typeof createLabelsModule>;

interface Needs {
  base: Base;
  journals: Journals;
  webhooks: WebhooksModule;
  hasAgent(viewer: Viewer, id: string): boolean;
  resolver: AgentResolver;
}

/** Labels of agents' versions, and their rollback by the runs that end. */
export function createLabelsModule({ base, journals, webhooks, hasAgent, resolver }: Needs) {
  const runs = createLabelRuns(base.db);
  const labels = createLabelStore({
    ...base,
    runs,
    hasAgent,
    hasVersion: resolver.hasVersion,
    announce: webhooks.announce,
  });
  // In the write of the run's end: a crash loses neither, and the rule is judged once for each end.
  journals.project((run, entries) => {
    for (const ended of runs.project(run, entries)) labels.judge(ended);
  });
  return {
    routes: (auth) => [labelRoutes({ auth, labels })],
    store: labels,
    /** Call inside the write with a score of a run. */
    judgeScored: (scope: Scope, runId: string): void => labels.judgeScored(scope, runId),
    /** Call after such a write. */
    announced: webhooks.announced,
  } satisfies Module;
}

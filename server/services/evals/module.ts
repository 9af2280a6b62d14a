import type { Base, Module } from "../../http/module.ts";
import type { AgentsModule } from "../../resources/agents/module.ts";
import type { ProjectsModule } from "../../resources/projects/module.ts";
import type { RunsModule } from "../../runs/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { createComparison } from "./compare.ts";
import { createLiveContinuation } from "./live-continuation.ts";
import { createInputOf, createPin } from "./pin.ts";
import { suiteRoutes } from "./routes.ts";
import { createSuiteService } from "./service.ts";
import { createSuiteStore } from "./store.ts";
import { createSuiteRunner } from "./suite-runner.ts";
import { createSuiteRuns } from "./suite-runs.ts";

interface Needs {
  base: Base;
  journals: Journals;
  projects: ProjectsModule;
  agents: AgentsModule;
  runs: RunsModule;
}

/** Test suites of recorded runs. */
export function createSuitesModule({ base, journals, projects, agents, runs }: Needs) {
  const { journal } = journals;
  const { db, abortSignalOf, log, now } = base;
  const suiteRuns = createSuiteRuns({ db, now });
  const suites = createSuiteStore({
    ...base,
    pin: createPin({ runs: runs.store, journal }),
    inputOf: createInputOf(journal),
    suiteRuns,
  });
  const performer = createSuiteRunner({
    db,
    suiteRuns,
    isOpen: projects.store.isOpen,
    log,
    live: createLiveContinuation({
      journal,
      runs: runs.store,
      service: runs.service,
      fork: runs.service.fork,
      log,
      now,
    }),
    compare: createComparison({ journal, snapshot: (scope, agentId) => agents.store.snapshot(scope, agentId) }),
  });
  const service = createSuiteService({ db, suites, suiteRuns, performer });
  return {
    routes: (auth) => [suiteRoutes({ auth, suites, suiteRuns, service, ending: abortSignalOf })],
    performer,
    start: performer.recover,
    onProjectArrived: performer.recover,
    stop: performer.stop,
  } satisfies Module;
}

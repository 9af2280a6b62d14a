import type { Base, Module } from "../../http/module.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { RunService } from "../../runs/service.ts";
import type { RunStore } from "../../runs/store.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { createComparison } from "./compare.ts";
import { createLiveContinuation } from "./live-continuation.ts";
import { createInputOf, createPin } from "./pin.ts";
import { suiteRoutes } from "./routes.ts";
import { createSuiteService } from "./service.ts";
import { createSuiteStore } from "./store.ts";
import { createSuiteRunner } from "./suite-runner.ts";
import { createSuiteRuns } from "./suite-runs.ts";

/** Test suites of recorded runs. */
export function createSuitesModule({
  journals: { journal },
  agents,
  projects,
  runs: { runs, service: runService },
  ...base
}: Base & {
  journals: Pick<Journals, "journal">;
  agents: AgentStore;
  projects: { isOpen(projectId: string): boolean };
  runs: { runs: RunStore; service: RunService };
}) {
  const { db, abortSignalOf, log, now } = base;
  const suiteRuns = createSuiteRuns({ db, now });
  const suites = createSuiteStore({
    ...base,
    pin: createPin({ runs, journal }),
    inputOf: createInputOf(journal),
    suiteRuns,
  });
  const performer = createSuiteRunner({
    db,
    suiteRuns,
    isOpen: projects.isOpen,
    log,
    live: createLiveContinuation({ journal, runs, service: runService, fork: runService.fork, log, now }),
    compare: createComparison({ journal, snapshot: (scope, agentId) => agents.snapshot(scope, agentId) }),
  });
  const service = createSuiteService({ db, suites, suiteRuns, performer });
  return {
    routes: (auth) => [suiteRoutes({ auth, suites, suiteRuns, service, ending: abortSignalOf })],
    exports: { performer },
    start: performer.recover,
    onProjectArrived: performer.recover,
    stop: performer.stop,
  } satisfies Module;
}

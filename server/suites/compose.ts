import type { AgentStore } from "../agents/store.ts";
import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import type { RunService } from "../runs/service.ts";
import type { RunStore } from "../runs/store.ts";
import { createComparison } from "./compare.ts";
import { createLiveRuns } from "./live.ts";
import { createPerformer } from "./performer.ts";
import { createInputOf, createPin } from "./pin.ts";
import { suiteRoutes } from "./routes.ts";
import { createSuiteService } from "./service.ts";
import { createSuiteStore } from "./store.ts";
import { createSuiteRuns } from "./suite-runs.ts";

/** Recorded runs that agents are tested with. */
export function composeSuites({
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
  const { db, ending, log, now } = base;
  const suiteRuns = createSuiteRuns({ db, now });
  const suites = createSuiteStore({
    ...base,
    pin: createPin({ runs, journal }),
    inputOf: createInputOf(journal),
    suiteRuns,
  });
  const performer = createPerformer({
    db,
    suiteRuns,
    isOpen: projects.isOpen,
    log,
    live: createLiveRuns({ journal, runs, service: runService, fork: runService.fork, log, now }),
    compare: createComparison({ journal, snapshot: (scope, agentId) => agents.snapshot(scope, agentId) }),
  });
  const service = createSuiteService({ db, suites, suiteRuns, performer });
  return {
    routes: (auth) => [suiteRoutes({ auth, suites, suiteRuns, service, ending })],
    ports: { performer },
    start: performer.recover,
    arrived: performer.recover,
    stop: performer.stop,
  } satisfies Part;
}

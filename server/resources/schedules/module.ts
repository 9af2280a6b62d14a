import type { JournalEntry } from "../../domain/run-event.ts";
import type { Base, Module } from "../../http/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { AgentResolver } from "../labels/module.ts";
import type { ProjectsModule } from "../projects/module.ts";
import { type ScheduleRoutes, scheduleRoutes } from "./routes.ts";
import { createScheduleRuns } from "./schedule-runs.ts";
import { Scheduler } from "./scheduler.ts";
import { createScheduleStore, type ScheduleStoreOptions } from "./store.ts";

export type SchedulesModule = ReturnType<typeof createSchedulesModule>;

interface Needs {
  base: Base;
  journals: Journals;
  projects: ProjectsModule;
  resolver: AgentResolver;
  startRun: ScheduleRoutes["start"];
  runAsOf: ScheduleRoutes["runAsOf"];
  checkRun: ScheduleStoreOptions["checkRun"];
  checkInput: ScheduleStoreOptions["checkInput"];
  onRunCommit(hear: (runId: string, entries: readonly JournalEntry[]) => void): void;
}

/** Runs that start on a schedule. */
export function createSchedulesModule({ base, journals, projects, resolver, ...runs }: Needs) {
  const { startRun, runAsOf, checkRun, checkInput } = runs;
  const { requireRoom, now } = base;
  const firings = createScheduleRuns(base);
  const scheduler = new Scheduler({
    ...base,
    firings,
    start: startRun,
    requireRoom: () => requireRoom(),
    isOpen: projects.store.isOpen,
  });
  const schedules = createScheduleStore({
    ...base,
    resolveAgent: resolver.resolve,
    checkRun,
    checkInput,
    onPlan: () => scheduler.arm(),
  });
  journals.project(firings.project);
  runs.onRunCommit((runId, entries) => scheduler.heard(runId, entries));
  return {
    routes: (auth) => [scheduleRoutes({ auth, schedules, firings, start: startRun, runAsOf, now })],
    store: schedules,
    scheduler,
    start: () => scheduler.start(),
    onProjectArrived: () => scheduler.start(),
    stop: () => scheduler.stop(),
  } satisfies Module;
}

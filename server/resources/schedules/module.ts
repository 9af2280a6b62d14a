import type { Base, Module } from "../../http/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { type ScheduleRoutes, scheduleRoutes } from "./routes.ts";
import { createScheduleRuns } from "./schedule-runs.ts";
import { Scheduler } from "./scheduler.ts";
import { createScheduleStore, type ScheduleStoreOptions } from "./store.ts";

/** Runs that start on a schedule. */
export function createSchedulesModule({
  journals,
  projects,
  agents,
  runs: { start, asOf, checkRun, checkInput, watches },
  ...base
}: Base & {
  journals: Journals;
  projects: { isOpen(projectId: string): boolean };
  agents: { has: ScheduleStoreOptions["hasAgent"] };
  runs: Pick<ScheduleRoutes, "start"> & {
    asOf: ScheduleRoutes["runAsOf"];
    checkRun: ScheduleStoreOptions["checkRun"];
    checkInput: ScheduleStoreOptions["checkInput"];
    watches: { listen(hear: Scheduler["heard"]): unknown };
  };
}) {
  const { requireRoom, now } = base;
  const firings = createScheduleRuns(base);
  const scheduler = new Scheduler({
    ...base,
    firings,
    start,
    requireRoom: () => requireRoom(),
    isOpen: projects.isOpen,
  });
  const schedules = createScheduleStore({
    ...base,
    hasAgent: agents.has,
    checkRun,
    checkInput,
    onPlan: scheduler.arm,
  });
  journals.project(firings.project);
  watches.listen(scheduler.heard);
  return {
    routes: (auth) => [scheduleRoutes({ auth, schedules, firings, start, runAsOf: asOf, now })],
    exports: { scheduler, eraseOf: schedules.eraseOf, get: schedules.get },
    start: scheduler.start,
    onProjectArrived: scheduler.start,
    stop: scheduler.stop,
  } satisfies Module;
}

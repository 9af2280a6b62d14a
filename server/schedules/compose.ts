import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import { createFirings } from "./firings.ts";
import { type ScheduleRoutes, scheduleRoutes } from "./routes.ts";
import { createScheduler } from "./scheduler.ts";
import { createScheduleStore, type ScheduleStoreOptions } from "./store.ts";

/** Runs that start by the clock. */
export function composeSchedules({
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
    watches: { listen(hear: ReturnType<typeof createScheduler>["heard"]): unknown };
  };
}) {
  const { requireRoom, now } = base;
  const firings = createFirings(base);
  const scheduler = createScheduler({
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
    ports: { scheduler, eraseOf: schedules.eraseOf, get: schedules.get },
    start: scheduler.start,
    arrived: scheduler.start,
    stop: scheduler.stop,
  } satisfies Part;
}

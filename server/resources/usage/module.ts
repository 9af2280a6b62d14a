import type { Base, Module } from "../../http/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { ConnectionsModule } from "../model-connections/module.ts";
import type { ProjectsModule } from "../projects/module.ts";
import { createAnalytics } from "./analytics-store.ts";
import { createForgetUser, createRunCounts } from "./count-runs.ts";
import { createDayBudgets } from "./day-budgets.ts";
import { createPaidCalls } from "./paid-calls.ts";
import { createReservations } from "./reservations.ts";
import { analyticsRoutes, usageRoutes } from "./routes.ts";
import { createUsageStore } from "./store.ts";
import { createUsageProjection, createUsageSums } from "./usage-projection.ts";

export type UsageModule = ReturnType<typeof createUsageModule>;

interface Needs {
  base: Base;
  journals: Journals;
  projects: ProjectsModule;
  connections: ConnectionsModule;
}

/** Usage and costs of runs, and budgets. */
export function createUsageModule({ base, journals, projects, connections }: Needs) {
  const { db, now, log } = base;
  const { inPlace, prices } = connections;
  const { settingsOf } = projects.store;
  const usage = createUsageStore({ db });
  const dayBudgets = createDayBudgets({ spentOn: usage.spentOn, settings: settingsOf, now });
  const reservations = createReservations({ dayBudgets, headOf: (runId) => journals.journal.head(runId) });
  const sumOf = createUsageSums(db);
  journals.project(createUsageProjection(sumOf));
  journals.onCommit(reservations.committed);
  journals.ended.follow(createRunCounts(db));
  const paid = createPaidCalls({ db, sumOf, dayBudgets, settingsOf, priceOf: prices.priceOf, inPlace, log, now });
  journals.onCommit(paid.committed);
  return {
    routes: (auth) => [
      usageRoutes({ auth, usage, now }),
      analyticsRoutes({ auth, report: createAnalytics({ db }), now }),
    ],
    store: usage,
    pay: paid.pay,
    onPaid: paid.onPaid,
    dayBudgets,
    reservations,
    forgetUser: createForgetUser(db),
  } satisfies Module;
}

import type { ModelPrice } from "../../domain/price.ts";
import type { Base, Module } from "../../http/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { createAnalytics } from "./analytics-store.ts";
import { createForgetUser, createRunCounts } from "./count-runs.ts";
import { createDayBudgets } from "./day-budgets.ts";
import { createPaidCalls } from "./paid-calls.ts";
import { createReservations } from "./reservations.ts";
import { analyticsRoutes, usageRoutes } from "./routes.ts";
import { createUsageStore } from "./store.ts";
import { createUsageProjection, createUsageSums } from "./usage-projection.ts";

type Settings = Parameters<typeof createDayBudgets>[0]["settings"];

/** Usage and costs of runs, and budgets. */
export function createUsageModule({
  journals,
  projects,
  db,
  now,
  log,
  connections: { inPlace, prices },
}: Base & {
  journals: Journals;
  projects: { settingsOf: Settings };
  connections: {
    inPlace: Parameters<typeof createPaidCalls>[0]["inPlace"];
    prices: { priceOf: (model: string) => ModelPrice | null };
  };
}) {
  const usage = createUsageStore({ db });
  const dayBudgets = createDayBudgets({ usage, settings: projects.settingsOf, now });
  const reservations = createReservations({ dayBudgets, headOf: journals.journal.head });
  const sumOf = createUsageSums(db);
  journals.project(createUsageProjection(sumOf));
  journals.onCommit(reservations.committed);
  journals.ended.follow(createRunCounts(db));
  const settingsOf = projects.settingsOf;
  const paid = createPaidCalls({ db, sumOf, dayBudgets, settingsOf, priceOf: prices.priceOf, inPlace, log, now });
  journals.onCommit(paid.committed);
  return {
    routes: (auth) => [
      usageRoutes({ auth, usage, now }),
      analyticsRoutes({ auth, report: createAnalytics({ db }), now }),
    ],
    exports: {
      pay: paid.pay,
      onPaid: paid.onPaid,
      dayBudgets,
      reservations,
      spentOn: usage.spentOn,
      forgetUser: createForgetUser(db),
    },
  } satisfies Module;
}

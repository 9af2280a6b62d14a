import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import { createDayBudgets } from "./day-budgets.ts";
import { createUsageProjector } from "./project.ts";
import { createReservations } from "./reservations.ts";
import { usageRoutes } from "./routes.ts";
import { createUsageStore } from "./store.ts";

type Settings = Parameters<typeof createDayBudgets>[0]["settings"];

/** What runs cost, and what a day may. */
export function composeUsage({
  journals,
  projects,
  db,
  now,
}: Base & { journals: Journals; projects: { settingsOf: Settings } }) {
  const usage = createUsageStore({ db });
  const dayBudgets = createDayBudgets({ usage, settings: projects.settingsOf, now });
  const reservations = createReservations({ dayBudgets, headOf: journals.journal.head });
  journals.project(createUsageProjector(db));
  journals.onCommit(reservations.committed);
  return {
    routes: (auth) => [usageRoutes({ auth, usage, now })],
    ports: { dayBudgets, reservations },
  } satisfies Part;
}

import { allowance, saidOf, worstCase } from "../core/budget.ts";
import type { ModelPrice } from "../core/price.ts";
import type { ProjectSettings } from "../core/project-settings.ts";
import type { ModelSpend } from "../core/run-event.ts";
import type { Db } from "../db/open.ts";
import type { Log } from "../lib/log.ts";
import { BudgetError, type Pay, type Payer } from "../models/payer.ts";
import { spendingOf } from "../worker/spending.ts";
import type { DayBudgets } from "./day-budgets.ts";
import { addSpent, dayOf, type UsageSums } from "./project.ts";

/**
 * Calls of models for what is no turn of a run: they are held against the budgets, and counted when they are made. Those
 * of a run stand in the usage of its agent, all others under no agent.
 */
export function createPaidCalls({
  db,
  sumOf,
  dayBudgets,
  settingsOf,
  priceOf,
  log,
  now,
}: {
  db: Pick<Db, "write">;
  sumOf: UsageSums;
  dayBudgets: Pick<DayBudgets, "reserve" | "release">;
  settingsOf: (projectId: string) => Pick<ProjectSettings, "unknown_price">;
  priceOf: (model: string) => ModelPrice | null;
  log: Log;
  now: () => number;
}): Pay {
  let calls = 0;

  async function add({ project_id, environment, run }: Payer, model: string, all: readonly ModelSpend[]) {
    const agent_id = run?.agent_id ?? "";
    await db
      .write(() => {
        const { counts } = sumOf(project_id, environment, dayOf(now()), agent_id, model);
        for (const spent of all) addSpent(counts, spent);
      })
      // A disk that is full: what was found for so much is worth more than its count.
      .catch((error) => log.error("a call of a model could not be counted", { model, error }));
  }

  return async function pay(payer, { model, request }, make) {
    const price = priceOf(model);
    const { project_id, environment, run, told } = payer;
    const { unknown_price } = settingsOf(project_id);
    const own = run && allowance(run.budget, run.usage, price, request, unknown_price);
    if (own && "exceeded" in own) throw new BudgetError(saidOf(own));
    const scope = { project_id, environment };
    const name = `call ${++calls}`; // No run has such a name.
    const day = dayBudgets.reserve(scope, name, worstCase(request, price));
    if (!day.granted) throw new BudgetError(day.message);
    const all: ModelSpend[] = [];
    try {
      return await make(({ usage, failed = false, said = 0, request: part = request }) =>
        all.push(spendingOf({ usage, failed, said }, part, price)),
      );
    } finally {
      if (all.length > 0) await add(payer, model, all);
      dayBudgets.release(scope, name); // Before it is counted, it would stand nowhere for a moment.
      for (const spent of all) told?.(spent);
    }
  };
}

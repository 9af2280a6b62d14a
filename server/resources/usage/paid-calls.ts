import {
  allowance,
  budgetMessage,
  type RemainingAmounts,
  unrecordedUsage,
  worstCase,
  worstCost,
} from "../../domain/budget.ts";
import { nanoUsd, usdOf } from "../../domain/cost.ts";
import type { ModelPrice } from "../../domain/price.ts";
import type { ProjectSettings } from "../../domain/project-settings.ts";
import { endsRun, type JournalEntry, type ModelSpend, type RunEvent, type RunUsage } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import { addModelCall, noUsage } from "../../domain/usage.ts";
import type { Log } from "../../lib/log.ts";
import { spendingOf } from "../../runtime/agent-loop/spending.ts";
import { BudgetError, type Pay, type SpendGuard } from "../../runtime/models/spend-guard.ts";
import type { Db } from "../../storage/db/open.ts";
import type { DayBudgets } from "./day-budgets.ts";
import { addSpent, dayOf, type UsageSums } from "./usage-projection.ts";

/** Worst case of a call until it ends, then its cost, until the run's record has it. */
interface Unrecorded {
  taken: RemainingAmounts;
  over: boolean;
}

const never = new AbortController().signal;

/**
 * Model calls outside of a run's turns: checked against budgets and counted when made. Those of a run count as its
 * agent's usage, others under no agent.
 */
export function createPaidCalls({
  db,
  sumOf,
  dayBudgets,
  settingsOf,
  priceOf,
  inPlace,
  log,
  now,
}: {
  db: Db;
  sumOf: UsageSums;
  dayBudgets: DayBudgets;
  settingsOf: (projectId: string) => Pick<ProjectSettings, "unknown_price">;
  priceOf: (model: string) => ModelPrice | null;
  /** Makes a call once its server has a place. */
  inPlace<T>(owner: Scope, model: string, signal: AbortSignal, call: () => Promise<T>): Promise<T>;
  log: Log;
  now: () => number;
}) {
  let calls = 0;
  const listeners: ((model: string, spent: ModelSpend) => void)[] = [];
  // For runs with a budget: otherwise concurrent searches would each see all of it.
  const unrecordedByRun = new Map<string, Set<Unrecorded>>();

  async function add({ project_id, environment, run }: SpendGuard, model: string, all: readonly ModelSpend[]) {
    const agent_id = run?.agent_id ?? "";
    await db
      .write(() => {
        const { counts } = sumOf(project_id, environment, dayOf(now()), agent_id, model);
        for (const spent of all) addSpent(counts, spent);
      })
      // On a full disk, keep the result although it cannot be counted.
      .catch((error) => log.error("a call of a model could not be counted", { model, error }));
  }

  /** Reserves a call's worst case in its run's budget. Returns a function to report the cost. */
  function reserveOfRun({ run, project_id }: SpendGuard, { model, request }: Parameters<Pay>[1]) {
    if (!run) return () => {};
    const known = unrecordedByRun.get(run.run_id) ?? new Set();
    const usage = withTaken(run.usage, known);
    const own = allowance(run.budget, usage, priceOf(model), request, settingsOf(project_id).unknown_price);
    if ("exceeded" in own) throw new BudgetError(budgetMessage(own));
    if (!run.budget) return () => {};
    const { input_tokens, max_output_tokens } = own.worst;
    const call: Unrecorded = {
      taken: { tokens: input_tokens + max_output_tokens, nano_usd: worstCost(own.worst) ?? 0 },
      over: false,
    };
    unrecordedByRun.set(run.run_id, known.add(call));
    return (all: readonly ModelSpend[]) => {
      call.taken = unrecordedUsage(all.reduce(addModelCall, noUsage), noUsage);
      call.over = true;
    };
  }

  const pay: Pay = async (payer, { model, request, signal = never }, make) => {
    const price = priceOf(model);
    const { project_id, environment, told } = payer;
    const settleReservation = reserveOfRun(payer, { model, request });
    const scope = { project_id, environment };
    const name = `call ${++calls}`; // Differs from all run ids.
    const all: ModelSpend[] = [];
    try {
      const day = dayBudgets.reserve(scope, name, worstCase(request, price));
      if (!day.granted) throw new BudgetError(day.message);
      return await inPlace(scope, model, signal, () =>
        make(({ usage, failed = false, said = 0, request: part = request }) =>
          all.push(spendingOf({ usage, failed, said }, part, price)),
        ),
      );
    } finally {
      settleReservation(all);
      if (all.length > 0) await add(payer, model, all);
      dayBudgets.release(scope, name); // After counting: otherwise it would briefly count nowhere.
      for (const spent of all) {
        told?.(spent);
        for (const listener of listeners) listener(model, spent);
      }
    }
  };

  return {
    pay,
    /** Call with durable entries: searches that they record no longer need reservations. */
    committed(runId: string, entries: readonly JournalEntry[]): void {
      const known = unrecordedByRun.get(runId);
      if (!known || !entries.some(({ event }) => recordsSearch(event))) return;
      for (const call of known) if (call.over) known.delete(call);
      if (known.size === 0) unrecordedByRun.delete(runId);
    },
    /** Registers a listener for the cost of each call. */
    onPaid(hear: (model: string, spent: ModelSpend) => void): void {
      listeners.push(hear);
    },
  };
}

const recordsSearch = (event: RunEvent): boolean =>
  event.type === "memory.retrieved" || event.type === "tool.completed" || endsRun(event);

function withTaken(usage: RunUsage, calls: Iterable<Unrecorded>): RunUsage {
  let { total_tokens, cost_usd } = usage;
  for (const { taken } of calls) {
    if (total_tokens !== null) total_tokens += taken.tokens;
    if (cost_usd !== null) cost_usd = usdOf(nanoUsd(cost_usd) + taken.nano_usd);
  }
  return { ...usage, total_tokens, cost_usd };
}

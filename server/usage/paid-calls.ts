import { allowance, beyond, type Left, saidOf, worstCase, worstCost } from "../core/budget.ts";
import { nanoUsd, usdOf } from "../core/cost.ts";
import type { ModelPrice } from "../core/price.ts";
import type { ProjectSettings } from "../core/project-settings.ts";
import { endsRun, type JournalEntry, type ModelSpend, type RunEvent, type RunUsage } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import { addModelCall, noUsage } from "../core/usage.ts";
import type { Db } from "../db/open.ts";
import type { Log } from "../lib/log.ts";
import { BudgetError, type Pay, type Payer } from "../models/payer.ts";
import { spendingOf } from "../worker/spending.ts";
import type { DayBudgets } from "./day-budgets.ts";
import { addSpent, dayOf, type UsageSums } from "./project.ts";

/** What a call takes that its run's record does not say yet: at most, until it is over. */
interface Unrecorded {
  taken: Left;
  over: boolean;
}

const never = new AbortController().signal;

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
  inPlace,
  log,
  now,
}: {
  db: Pick<Db, "write">;
  sumOf: UsageSums;
  dayBudgets: Pick<DayBudgets, "reserve" | "release">;
  settingsOf: (projectId: string) => Pick<ProjectSettings, "unknown_price">;
  priceOf: (model: string) => ModelPrice | null;
  /** Makes a call when its server has a place. */
  inPlace<T>(owner: Scope, model: string, signal: AbortSignal, call: () => Promise<T>): Promise<T>;
  log: Log;
  now: () => number;
}) {
  let calls = 0;
  const hearers: ((model: string, spent: ModelSpend) => void)[] = [];
  // Of runs with a budget: searches that are made at once would each see all of it.
  const unrecorded = new Map<string, Set<Unrecorded>>();

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

  /** Reserves what a call can take of its run's budget, and returns how it is told what the call took. */
  function reserveOfRun({ run, project_id }: Payer, { model, request }: Parameters<Pay>[1]) {
    if (!run) return () => {};
    const known = unrecorded.get(run.run_id) ?? new Set();
    const usage = withTaken(run.usage, known);
    const own = allowance(run.budget, usage, priceOf(model), request, settingsOf(project_id).unknown_price);
    if ("exceeded" in own) throw new BudgetError(saidOf(own));
    if (!run.budget) return () => {};
    const { input_tokens, max_output_tokens } = own.worst;
    const call: Unrecorded = {
      taken: { tokens: input_tokens + max_output_tokens, nano_usd: worstCost(own.worst) ?? 0 },
      over: false,
    };
    unrecorded.set(run.run_id, known.add(call));
    return (all: readonly ModelSpend[]) => {
      call.taken = beyond(all.reduce(addModelCall, noUsage), noUsage);
      call.over = true;
    };
  }

  const pay: Pay = async (payer, { model, request, signal = never }, make) => {
    const price = priceOf(model);
    const { project_id, environment, told } = payer;
    const took = reserveOfRun(payer, { model, request });
    const scope = { project_id, environment };
    const name = `call ${++calls}`; // No run has such a name.
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
      took(all);
      if (all.length > 0) await add(payer, model, all);
      dayBudgets.release(scope, name); // Before it is counted, it would stand nowhere for a moment.
      for (const spent of all) {
        told?.(spent);
        for (const hear of hearers) hear(model, spent);
      }
    }
  };

  return {
    pay,
    /** To be told of what is durable: what a search came to is in the run's record now. */
    committed(runId: string, entries: readonly JournalEntry[]): void {
      const known = unrecorded.get(runId);
      if (!known || !entries.some(({ event }) => recordsSearch(event))) return;
      for (const call of known) if (call.over) known.delete(call);
      if (known.size === 0) unrecorded.delete(runId);
    },
    /** Tells what each call came to. */
    onPaid(hear: (model: string, spent: ModelSpend) => void): void {
      hearers.push(hear);
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

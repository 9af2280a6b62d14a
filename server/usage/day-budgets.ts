import { fit, type Left, unpriced, type WorstCase, worstCost } from "../core/budget.ts";
import { nanoUsd, usdOf } from "../core/cost.ts";
import type { DayBudget, ProjectSettings } from "../core/project-settings.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import { readTimestamp, timestamp } from "../core/time.ts";
import { dayOf } from "./project.ts";
import type { Spent, UsageStore } from "./store.ts";

/** A call that may be made; `max_output_tokens` is null where the day has no budget. */
export interface Granted {
  granted: true;
  max_output_tokens: number | null;
}

interface Refused {
  granted: false;
  message: string;
  /** `reserved`: it would fit but for calls that are being made; they may take less, and `freed` tells when. */
  because: "spent" | "reserved" | "unknown_price";
  resets_at: string;
}

export type DayBudgets = ReturnType<typeof createDayBudgets>;

const day_ms = 24 * 3_600_000;

interface Reservation {
  tokens: number;
  nano_usd: number;
}

/** Of one project and environment: what each run has reserved, and who waits for less of it. */
interface Book {
  reserved: Map<string, Reservation>;
  freed: PromiseWithResolvers<void>;
}

/**
 * The budgets of projects for a day (UTC), test and live apart. What was spent stands in the table of usage; what calls
 * that are being made can take at most stands in here, and dies with the process as they do. Both together never pass
 * the budget, however many calls begin at once. For the main thread alone.
 */
export function createDayBudgets({
  usage,
  settings,
  now,
}: {
  usage: Pick<UsageStore, "spentOn">;
  settings(projectId: string): Pick<ProjectSettings, "budget_per_day" | "unknown_price">;
  now: () => number;
}) {
  const books = new Map<string, Book>();

  /**
   * Reserves what a call of this run can take, in place of what the run had reserved. To be asked before every attempt:
   * a failed one has cost something too.
   */
  function reserve(scope: Scope, runId: string, worst: WorstCase): Granted | Refused {
    release(scope, runId);
    const { budget_per_day: budget, unknown_price } = settings(scope.project_id);
    if (budget?.max_cost_usd === undefined && budget?.max_total_tokens === undefined) {
      enter(scope, runId, worst); // A budget that is set while the call is being made knows of it.
      return { granted: true, max_output_tokens: null };
    }
    const today = dayOf(now());
    const resets_at = timestamp(readTimestamp(`${today}T00:00:00Z`)! + day_ms);
    if (budget.max_cost_usd !== undefined && worst.price === null && unknown_price !== "allow")
      return { granted: false, because: "unknown_price", message: unpriced, resets_at };
    const spent = usage.spentOn(scope, today);
    const own = reservationOf(worst.unrecorded);
    const reserved = totalOf(books.get(nameOf(scope)), own);
    const call = fit(worst, leftOf(budget, spent, reserved));
    if ("short" in call) {
      const because = "short" in fit(worst, leftOf(budget, spent, own)) ? "spent" : "reserved";
      return { granted: false, because, message: tooLittle(call.short, budget, spent, reserved, resets_at), resets_at };
    }
    enter(scope, runId, call);
    return { granted: true, max_output_tokens: call.max_output_tokens };
  }

  function enter(scope: Scope, runId: string, call: WorstCase): void {
    const name = nameOf(scope);
    const book = books.get(name) ?? { reserved: new Map(), freed: Promise.withResolvers<void>() };
    const { tokens, nano_usd } = reservationOf(call.unrecorded);
    book.reserved.set(runId, {
      tokens: tokens + call.input_tokens + call.max_output_tokens,
      nano_usd: nano_usd + (worstCost(call) ?? 0),
    });
    books.set(name, book);
  }

  /** The run's call is over. After the commit of what it cost: before, it would be counted nowhere for a moment. */
  function release(scope: Scope, runId: string): void {
    const name = nameOf(scope);
    const book = books.get(name);
    if (!book?.reserved.delete(runId)) return;
    book.freed.resolve();
    if (book.reserved.size > 0) book.freed = Promise.withResolvers<void>();
    else books.delete(name);
  }

  return {
    reserve,
    release,
    /** Resolves as soon as something that is reserved now is free; at once when nothing is. */
    freed: (scope: Scope): Promise<void> => books.get(nameOf(scope))?.freed.promise ?? Promise.resolve(),
  };
}

const reservationOf = (unrecorded: Left | undefined): Reservation => unrecorded ?? { tokens: 0, nano_usd: 0 };

function totalOf(book: Book | undefined, own: Reservation): Reservation {
  const total = { ...own };
  for (const { tokens, nano_usd } of book?.reserved.values() ?? []) {
    total.tokens += tokens;
    total.nano_usd += nano_usd;
  }
  return total;
}

const leftOf = (budget: DayBudget, spent: Spent, reserved: Reservation): Left => ({
  tokens: (budget.max_total_tokens ?? Number.POSITIVE_INFINITY) - spent.total_tokens - reserved.tokens,
  nano_usd:
    budget.max_cost_usd === undefined
      ? Number.POSITIVE_INFINITY
      : nanoUsd(budget.max_cost_usd) - spent.cost_nano_usd - reserved.nano_usd,
});

function tooLittle(
  limit: "max_cost_usd" | "max_total_tokens",
  budget: DayBudget,
  spent: Spent,
  reserved: Reservation,
  until: string,
): string {
  const [unit, used, held] =
    limit === "max_cost_usd"
      ? ["USD", usdOf(spent.cost_nano_usd), usdOf(reserved.nano_usd)]
      : ["tokens", spent.total_tokens, reserved.tokens];
  return `The project may spend ${budget[limit]} ${unit} a day: ${used} are spent and ${held} reserved for other calls, which leaves too little for this one. The next day begins at ${until}.`;
}

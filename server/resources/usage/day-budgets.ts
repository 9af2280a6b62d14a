import {
  fitWorstCase,
  type RemainingAmounts,
  unpricedMessage,
  type WorstCase,
  worstCost,
} from "../../domain/budget.ts";
import { nanoUsd, usdOf } from "../../domain/cost.ts";
import type { DayBudget, ProjectSettings } from "../../domain/project-settings.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import type { BudgetSpending, UsageStore } from "./store.ts";
import { dayOf } from "./usage-projection.ts";

/** A permitted call; `max_output_tokens` is null without a daily budget. */
export interface CallGrant {
  granted: true;
  max_output_tokens: number | null;
}

interface Refused {
  granted: false;
  message: string;
  /**
   * `reserved`: refused because of calls in progress, which may use less than they reserve; wait for `freed` and retry.
   */
  because: "spent" | "reserved" | "unknown_price";
  resets_at: string;
}

export type DayBudgets = ReturnType<typeof createDayBudgets>;

const day_ms = 24 * 3_600_000;

interface Reservation {
  tokens: number;
  nano_usd: number;
}

/** Reservations of one project and environment, by run; `freed` resolves for waiting calls when one is released. */
interface Book {
  reserved: Map<string, Reservation>;
  freed: PromiseWithResolvers<void>;
}

/**
 * Daily budgets of projects (UTC), separate for test and live. Spending is read from the usage table; worst cases of
 * calls in progress are reserved in memory. Their sum never exceeds the budget, even with concurrent calls. Main thread
 * only.
 */
export function createDayBudgets({
  spentOn,
  settings,
  now,
}: {
  spentOn: UsageStore["spentOn"];
  settings(projectId: string): Pick<ProjectSettings, "budget_per_day" | "unknown_price">;
  now: () => number;
}) {
  const books = new Map<string, Book>();

  /**
   * Reserves a call's worst case, replacing the run's earlier reservation. Call before every attempt, because failed
   * ones cost, too.
   */
  function reserve(scope: Scope, runId: string, worst: WorstCase): CallGrant | Refused {
    release(scope, runId);
    const { budget_per_day: budget, unknown_price } = settings(scope.project_id);
    if (budget?.max_cost_usd === undefined && budget?.max_total_tokens === undefined) {
      enter(scope, runId, worst); // Recorded in case a budget is set during the call.
      return { granted: true, max_output_tokens: null };
    }
    const today = dayOf(now());
    const resets_at = timestamp(Date.parse(`${today}T00:00:00Z`) + day_ms);
    if (budget.max_cost_usd !== undefined && worst.price === null && unknown_price !== "allow")
      return { granted: false, because: "unknown_price", message: unpricedMessage, resets_at };
    const spent = spentOn(scope, today);
    const own = reservationOf(worst.unrecorded);
    const reserved = totalOf(books.get(nameOf(scope)), own);
    const call = fitWorstCase(worst, leftOf(budget, spent, reserved));
    if ("short" in call) {
      const because = "short" in fitWorstCase(worst, leftOf(budget, spent, own)) ? "spent" : "reserved";
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

  /** Releases the run's reservation. Call after its cost is committed: otherwise it would briefly count nowhere. */
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
    /** Resolves when a reservation is released; at once if there is none. */
    freed: (scope: Scope): Promise<void> => books.get(nameOf(scope))?.freed.promise ?? Promise.resolve(),
  };
}

const reservationOf = (unrecorded: RemainingAmounts | undefined): Reservation =>
  unrecorded ?? { tokens: 0, nano_usd: 0 };

function totalOf(book: Book | undefined, own: Reservation): Reservation {
  const total = { ...own };
  for (const { tokens, nano_usd } of book?.reserved.values() ?? []) {
    total.tokens += tokens;
    total.nano_usd += nano_usd;
  }
  return total;
}

const leftOf = (budget: DayBudget, spent: BudgetSpending, reserved: Reservation): RemainingAmounts => ({
  tokens: (budget.max_total_tokens ?? Number.POSITIVE_INFINITY) - spent.total_tokens - reserved.tokens,
  nano_usd:
    budget.max_cost_usd === undefined
      ? Number.POSITIVE_INFINITY
      : nanoUsd(budget.max_cost_usd) - spent.cost_nano_usd - reserved.nano_usd,
});

function tooLittle(
  limit: "max_cost_usd" | "max_total_tokens",
  budget: DayBudget,
  spent: BudgetSpending,
  reserved: Reservation,
  until: string,
): string {
  const [unit, used, held] =
    limit === "max_cost_usd"
      ? ["USD", usdOf(spent.cost_nano_usd), usdOf(reserved.nano_usd)]
      : ["tokens", spent.total_tokens, reserved.tokens];
  return `The project may spend ${budget[limit]} ${unit} a day: ${used} are spent and ${held} reserved for other calls, which leaves too little for this one. The next day begins at ${until}.`;
}

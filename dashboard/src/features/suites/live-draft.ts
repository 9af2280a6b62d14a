import { limits } from "../../../../server/core/limits.ts";
import type { Live } from "../../../../server/suites/schema.ts";

/** What somebody wrote about going on live. Empty is no limit, or the server's own. */
export interface LiveDraft {
  goesOn: boolean;
  cost: string;
  tokens: string;
  forks: string;
}

/** What is wrong with each field, or null. */
type LiveFaults = Record<"cost" | "tokens" | "forks", string | null>;

/** A cautious beginning: nobody spends more than a dollar by leaving a field as it was. */
export const firstLiveDraft: LiveDraft = { goesOn: false, cost: "1.00", tokens: "", forks: "20" };

/** What is wrong with it, field by field. */
export function liveFaults({ goesOn, cost, tokens, forks }: LiveDraft): LiveFaults {
  if (!goesOn) return { cost: null, tokens: null, forks: null };
  return {
    cost: cost.trim() === "" || isBetween(cost, 0, limits.budget_usd) ? null : "An amount above 0, such as 0.50.",
    tokens: tokens.trim() === "" || isWhole(tokens, limits.budget_tokens) ? null : "A whole number above 0.",
    forks:
      forks.trim() === "" || isWhole(forks, limits.cases_per_suite)
        ? null
        : `A whole number from 1 to ${limits.cases_per_suite}.`,
  };
}

/** The body of the request that starts the suite run. */
export function liveBody({ goesOn, cost, tokens, forks }: LiveDraft): { live?: Live } {
  if (!goesOn) return {};
  return {
    live: {
      ...(cost.trim() && { max_cost_usd: Number(cost) }),
      ...(tokens.trim() && { max_total_tokens: Number(tokens) }),
      ...(forks.trim() && { max_runs: Number(forks) }),
    },
  };
}

const isBetween = (text: string, above: number, most: number): boolean =>
  /^\d*\.?\d+$/.test(text.trim()) && Number(text) > above && Number(text) <= most;

const isWhole = (text: string, most: number): boolean => /^\d+$/.test(text.trim()) && isBetween(text, 0, most);

import { limits } from "../../../../server/domain/limits.ts";
import type { Live } from "../../../../server/services/evals/schema.ts";

/** Form state of live continuation. An empty field means no limit, or the server's default. */
export interface LiveDraft {
  continuesLive: boolean;
  cost: string;
  tokens: string;
  forks: string;
}

/** Error of each field, or null. */
type LiveFaults = Record<"cost" | "tokens" | "forks", string | null>;

/** Cautious defaults: unchanged fields never spend more than a dollar. */
export const firstLiveDraft: LiveDraft = { continuesLive: false, cost: "1.00", tokens: "", forks: "20" };

/** Validates the fields. */
export function liveFaults({ continuesLive: goesOn, cost, tokens, forks }: LiveDraft): LiveFaults {
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

/** Body of the request that starts the suite run. */
export function liveBody({ continuesLive: goesOn, cost, tokens, forks }: LiveDraft): { live?: Live } {
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

import { requireValue } from "../lib/require-value.ts";
import type { Budget, UnknownPrice } from "./budget-schema.ts";
import { mediaTokens, withoutNativeText } from "./context-size.ts";
import { dearestInput, nanoOf, nanoUsd, usdOf } from "./cost.ts";
import type { ModelRequest } from "./model-call.ts";
import type { ModelPrice } from "./price.ts";
import { type Rates, ratesFor } from "./rates.ts";
import type { RunUsage } from "./run-event.ts";
import type { RunState } from "./run-state.ts";

/** The exceeded limit of a budget, and a sentence for the run's error. */
interface Exceeded {
  exceeded: keyof Budget;
  message: string;
}

/** Message of the run's error. */
export const budgetMessage = ({ exceeded, message }: Exceeded): string => `budget.${exceeded}: ${message}`;

/** Upper bound of a model call. It is reserved before the call, so that no answer can exceed the budget. */
export interface WorstCase {
  input_tokens: number;
  max_output_tokens: number;
  /** True if the agent sets the length of answers: the call gets that length, or is not made. */
  fixed: boolean;
  /** USD per million tokens; null if the price is unknown. */
  price: { input: number; output: number } | null;
  /** Highest cost of the provider's own tools, in nano-dollars; absent: none. */
  tools_nano_usd?: number;
  /** Usage that is not journaled yet: an answer whose judging is not finished. */
  unrecorded?: RemainingAmounts;
}

// Tokenizers need one token for three to four bytes of prose or code. Two are safe for everything except long runs of
// digits and random letters.
const bytesPerToken = 2;
// For models with an unknown maximal answer, because a model server may refuse a higher value.
const outputUnknown = 8192;
// Providers refuse lower values.
const outputMin = 16;

/** Overestimates the tokens of a prompt: one for every two bytes of its JSON in UTF-8, plus its media. */
export const promptTokens = ({ messages, tools, output_schema }: ModelRequest): number =>
  Math.ceil(
    new TextEncoder().encode(JSON.stringify([messages.map(withoutNativeText), tools, output_schema])).length /
      bytesPerToken,
  ) + messages.reduce((sum, message) => sum + mediaTokens(message), 0);

export function worstCase(request: ModelRequest, price: ModelPrice | null, toolsUsd = 0): WorstCase {
  const input_tokens = promptTokens(request);
  const requestedMax = request.settings.max_output_tokens;
  const isPriced = price !== null && input_tokens <= (price.priced_up_to ?? input_tokens);
  const rates = price && ratesFor(price, input_tokens);
  return {
    input_tokens,
    max_output_tokens: requestedMax ?? price?.max_output_tokens ?? outputUnknown,
    fixed: requestedMax !== undefined,
    ...(toolsUsd > 0 && { tools_nano_usd: nanoUsd(toolsUsd) }),
    price: isPriced && rates ? { input: inputPrice(request, rates), output: rates.output } : null,
  };
}

/** An hour in the cache costs more than five minutes. Only settings for the provider itself can ask for it. */
const inputPrice = ({ settings }: ModelRequest, rates: Rates): number =>
  Math.max(dearestInput(rates), JSON.stringify(settings).includes('"1h"') ? (rates.cache_write_1h ?? 0) : 0);

/** Returns the highest cost of the call in nano-dollars; null if the price is unknown. */
export const worstCost = ({ input_tokens, max_output_tokens, price, tools_nano_usd = 0 }: WorstCase): number | null =>
  price && Math.round(nanoOf(input_tokens, price.input) + nanoOf(max_output_tokens, price.output)) + tools_nano_usd;

/** Rest of a budget; `Infinity` for an absent limit. */
export interface RemainingAmounts {
  tokens: number;
  nano_usd: number;
}

/** Returns the usage that is not journaled yet; unknown values count as zero here. */
export const unrecordedUsage = (used: RunUsage, recorded: RunUsage): RemainingAmounts => ({
  tokens: (used.total_tokens ?? 0) - (recorded.total_tokens ?? 0),
  nano_usd: nanoUsd(used.cost_usd ?? 0) - nanoUsd(recorded.cost_usd ?? 0),
});

/**
 * Fits the worst case into the rest by shortening an answer whose length is not fixed. Returns the missing limit if it
 * does not fit.
 */
export function fitWorstCase(
  worst: WorstCase,
  left: RemainingAmounts,
): WorstCase | { short: "max_total_tokens" | "max_cost_usd" } {
  const least = worst.fixed ? worst.max_output_tokens : Math.min(outputMin, worst.max_output_tokens);
  const byTokens = left.tokens - worst.input_tokens;
  const byCost = affordable(worst, left.nano_usd);
  if (byTokens < least) return { short: "max_total_tokens" };
  if (byCost < least) return { short: "max_cost_usd" };
  return { ...worst, max_output_tokens: Math.min(worst.max_output_tokens, byTokens, byCost) };
}

/** Number of output tokens that the money buys after the prompt is paid. */
function affordable({ input_tokens, price, tools_nano_usd = 0 }: WorstCase, nano: number): number {
  if (price === null || nano === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  const rest = nano - nanoOf(input_tokens, price.input) - tools_nano_usd;
  if (rest < 0) return -1;
  return price.output === 0 ? Number.POSITIVE_INFINITY : Math.floor(rest / nanoOf(1, price.output));
}

/** Allowance of the next model call. */
interface Allowance {
  worst: WorstCase;
  /** Value for the request; null if neither a budget nor the agent limits it. */
  max_output_tokens: number | null;
}

/**
 * Returns the allowance for another model call, or why the budget forbids it. Call before every attempt, because failed
 * ones cost too. Unknown usage counts against the budget.
 */
export function allowance(
  budget: Budget | null,
  usage: RunUsage,
  price: ModelPrice | null,
  request: ModelRequest,
  unknownPrice: UnknownPrice = "refuse",
  toolsUsd = 0,
): Allowance | Exceeded {
  const worst = worstCase(request, price, toolsUsd);
  const { max_total_tokens, max_cost_usd } = budget ?? {};
  const { cost_usd } = usage;
  const said = request.settings.max_output_tokens ?? null;
  if (!budget || (max_total_tokens === undefined && max_cost_usd === undefined))
    return { worst, max_output_tokens: said };
  if (max_total_tokens !== undefined && usage.total_tokens === null)
    return { exceeded: "max_total_tokens", message: "It is unknown how many tokens the run has used." };
  const isUncounted = worst.price === null || cost_usd === null;
  if (max_cost_usd !== undefined && isUncounted && unknownPrice === "refuse")
    return { exceeded: "max_cost_usd", message: worst.price ? uncounted : unpricedMessage };
  const bounded = fitWorstCase(worst, {
    tokens: (max_total_tokens ?? Number.POSITIVE_INFINITY) - (usage.total_tokens ?? 0),
    nano_usd: isUncounted ? Number.POSITIVE_INFINITY : nanoLeft(max_cost_usd, cost_usd),
  });
  if ("short" in bounded) return { exceeded: bounded.short, message: shortOf(bounded.short, budget, usage, worst) };
  return { worst: bounded, max_output_tokens: bounded.max_output_tokens };
}

/** Error for a model without a known price under a budget in USD. */
export const unpricedMessage =
  "The model has no known price, so a budget in USD cannot be enforced. The operator can set one (runnel models prices set).";
const uncounted = "It is unknown what the run has cost so far.";

const nanoLeft = (max: number | undefined, spent: number): number =>
  max === undefined ? Number.POSITIVE_INFINITY : nanoUsd(max) - nanoUsd(spent);

function shortOf(limit: keyof Budget, budget: Budget, usage: RunUsage, worst: WorstCase): string {
  const output = worst.fixed ? worst.max_output_tokens : outputMin;
  if (limit === "max_total_tokens")
    return `The run has used ${usage.total_tokens} of ${budget.max_total_tokens} tokens; another model call needs ${worst.input_tokens} for its prompt, as counted here, and ${output} for the answer.`;
  const cost = requireValue(worstCost({ ...worst, max_output_tokens: output }), "The price of the model");
  return `The run has cost ${usage.cost_usd} of ${budget.max_cost_usd} USD; another model call may cost ${usdOf(cost)} USD.`;
}

/** Usage of a run, including the planned usage. */
export interface BudgetFacts {
  usage: Pick<RunUsage, "total_tokens" | "cost_usd" | "tool_calls">;
  wall_ms: number;
}

/** Returns the first exceeded limit, or null. A run that has used exactly its time has exceeded it. */
export function findExceeded(budget: Budget | null, { usage, wall_ms }: BudgetFacts): Exceeded | null {
  const { max_total_tokens, max_cost_usd, max_tool_calls, max_wall_ms } = budget ?? {};
  if (max_wall_ms !== undefined && wall_ms >= max_wall_ms)
    return { exceeded: "max_wall_ms", message: `The run has taken its ${max_wall_ms} ms.` };
  if (max_tool_calls !== undefined && usage.tool_calls > max_tool_calls)
    return {
      exceeded: "max_tool_calls",
      message: `The run may make ${max_tool_calls} tool calls, and asked for more.`,
    };
  if (max_total_tokens !== undefined && (usage.total_tokens ?? 0) > max_total_tokens)
    return { exceeded: "max_total_tokens", message: `The run has used more than its ${max_total_tokens} tokens.` };
  if (max_cost_usd !== undefined && nanoUsd(usage.cost_usd ?? 0) > nanoUsd(max_cost_usd))
    return { exceeded: "max_cost_usd", message: `The run has cost more than its ${max_cost_usd} USD.` };
  return null;
}

/** Checks the tool calls only: model calls are checked before each with their worst case, and time by its deadline. */
export function tooManyCalls({ run, usage }: Pick<RunState, "run" | "usage">): Exceeded | null {
  const { max_tool_calls } = run.budget ?? {};
  return max_tool_calls === undefined ? null : findExceeded({ max_tool_calls }, { usage, wall_ms: 0 });
}

/** Returns the lower of each limit; null if neither has any. */
export function tightestBudget(a: Budget | null | undefined, b: Budget | null | undefined): Budget | null {
  const limits: Budget = { ...a };
  for (const [name, limit] of Object.entries(b ?? {}) as [keyof Budget, number][])
    limits[name] = Math.min(limits[name] ?? limit, limit);
  return Object.keys(limits).length > 0 ? limits : null;
}

/** Returns the budget of a run whose next agent has one of its own: what it has used, and as much as that agent may. */
export function budgetFrom(own: Budget, budget: Budget | null | undefined, { usage, wall_ms }: BudgetFacts): Budget {
  const { max_cost_usd, max_total_tokens, max_tool_calls, max_wall_ms } = own;
  const more: Budget = {
    ...(max_cost_usd !== undefined && { max_cost_usd: usdOf(nanoUsd(usage.cost_usd ?? 0) + nanoUsd(max_cost_usd)) }),
    ...(max_total_tokens !== undefined && { max_total_tokens: (usage.total_tokens ?? 0) + max_total_tokens }),
    ...(max_tool_calls !== undefined && { max_tool_calls: usage.tool_calls + max_tool_calls }),
    ...(max_wall_ms !== undefined && { max_wall_ms: wall_ms + max_wall_ms }),
  };
  return tightestBudget(budget, more) ?? more;
}

/** Returns the rest for a child run. Unknown usage leaves none. */
export function remainingBudget(budget: Budget, facts: BudgetFacts): Budget;
export function remainingBudget(budget: Budget | null, facts: BudgetFacts): Budget | null;
export function remainingBudget(budget: Budget | null, { usage, wall_ms }: BudgetFacts): Budget | null {
  if (!budget) return null;
  const left: Budget = {};
  const { max_total_tokens: tokens, max_cost_usd: cost, max_tool_calls: calls, max_wall_ms: wall } = budget;
  if (tokens !== undefined) left.max_total_tokens = Math.max(0, tokens - (usage.total_tokens ?? tokens));
  if (cost !== undefined) left.max_cost_usd = Math.max(0, usdOf(nanoUsd(cost) - nanoUsd(usage.cost_usd ?? cost)));
  if (calls !== undefined) left.max_tool_calls = Math.max(0, calls - usage.tool_calls);
  if (wall !== undefined) left.max_wall_ms = Math.max(0, wall - wall_ms);
  return left;
}

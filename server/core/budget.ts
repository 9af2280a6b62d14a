import type { Budget, UnknownPrice } from "./budget-schema.ts";
import { imageTokens } from "./context-size.ts";
import { nanoOf, nanoUsd, usdOf } from "./cost.ts";
import type { ModelRequest } from "./model-call.ts";
import type { ModelPrice } from "./price.ts";
import type { RunUsage } from "./run-event.ts";
import type { RunState } from "./run-state.ts";

/** Which limit of a budget does not hold any more, and a sentence for whoever reads the run's error. */
interface Exceeded {
  exceeded: keyof Budget;
  message: string;
}

/** What a run's error says of it. */
export const saidOf = ({ exceeded, message }: Exceeded): string => `budget.${exceeded}: ${message}`;

/** The most that a model call can take. It is reserved before the call, so that no answer can be too long. */
export interface WorstCase {
  input_tokens: number;
  max_output_tokens: number;
  /** The agent says how long answers may be: the call gets that much, or is not made. */
  fixed: boolean;
  /** USD per million tokens; null when the price is unknown. */
  price: { input: number; output: number } | null;
  /** What the run has used that no entry says yet: an answer that is still judged. */
  unrecorded?: Left;
}

// Tokenizers make a token of three to four bytes of prose or code. Two hold for everything but what they cut up small:
// long runs of digits, random letters.
const bytesPerToken = 2;
// Of a model whose answers' length nobody knows: more than its server takes would be refused there.
const outputUnknown = 8192;
// Providers refuse to be asked for less.
const outputMin = 16;

/** Tokens of a prompt, rather too many than too few: one for every two bytes of its JSON in UTF-8, and its images. */
export const promptTokens = ({ messages, tools, output_schema }: ModelRequest): number =>
  Math.ceil(new TextEncoder().encode(JSON.stringify([messages, tools, output_schema])).length / bytesPerToken) +
  imageTokens * messages.reduce((sum, message) => sum + (("images" in message && message.images?.length) || 0), 0);

export function worstCase(request: ModelRequest, price: ModelPrice | null): WorstCase {
  const input_tokens = promptTokens(request);
  const said = request.settings.max_output_tokens;
  const isPriced = price !== null && input_tokens <= (price.priced_up_to ?? input_tokens);
  return {
    input_tokens,
    max_output_tokens: said ?? price?.max_output_tokens ?? outputUnknown,
    fixed: said !== undefined,
    price: isPriced ? { input: Math.max(price.input, price.cached_input), output: price.output } : null,
  };
}

/** Nano-dollars that the call can cost; null when the price is unknown. */
export const worstCost = ({ input_tokens, max_output_tokens, price }: WorstCase): number | null =>
  price && Math.round(nanoOf(input_tokens, price.input) + nanoOf(max_output_tokens, price.output));

/** What is left of a budget; `Infinity` where it has no such limit. */
export interface Left {
  tokens: number;
  nano_usd: number;
}

/** What is used beyond what is on record; what is unknown is counted nowhere. */
export const beyond = (used: RunUsage, recorded: RunUsage): Left => ({
  tokens: (used.total_tokens ?? 0) - (recorded.total_tokens ?? 0),
  nano_usd: nanoUsd(used.cost_usd ?? 0) - nanoUsd(recorded.cost_usd ?? 0),
});

/** The worst case within what is left: where nobody said how long the answer may be, it gets shorter. Or what is short. */
export function fit(worst: WorstCase, left: Left): WorstCase | { short: "max_total_tokens" | "max_cost_usd" } {
  const least = worst.fixed ? worst.max_output_tokens : Math.min(outputMin, worst.max_output_tokens);
  const byTokens = left.tokens - worst.input_tokens;
  const byCost = affordable(worst, left.nano_usd);
  if (byTokens < least) return { short: "max_total_tokens" };
  if (byCost < least) return { short: "max_cost_usd" };
  return { ...worst, max_output_tokens: Math.min(worst.max_output_tokens, byTokens, byCost) };
}

/** How many tokens of answer so much money buys, after the prompt is paid. */
function affordable({ input_tokens, price }: WorstCase, nano: number): number {
  if (price === null || nano === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  const rest = nano - nanoOf(input_tokens, price.input);
  if (rest < 0) return -1;
  return price.output === 0 ? Number.POSITIVE_INFINITY : Math.floor(rest / nanoOf(1, price.output));
}

/** What the next model call may take. */
interface Allowance {
  worst: WorstCase;
  /** What the request has to say; null when no budget bounds it and the agent does not either. */
  max_output_tokens: number | null;
}

/**
 * Whether a budget allows another model call, and how long its answer may get. To be asked before every attempt: a
 * failed one has cost something too. What is unknown counts against the budget, not for it.
 */
export function allowance(
  budget: Budget | null,
  usage: RunUsage,
  price: ModelPrice | null,
  request: ModelRequest,
  unknownPrice: UnknownPrice = "refuse",
): Allowance | Exceeded {
  const worst = worstCase(request, price);
  const { max_total_tokens, max_cost_usd } = budget ?? {};
  const said = request.settings.max_output_tokens ?? null;
  if (max_total_tokens === undefined && max_cost_usd === undefined) return { worst, max_output_tokens: said };
  if (max_total_tokens !== undefined && usage.total_tokens === null)
    return { exceeded: "max_total_tokens", message: "It is unknown how many tokens the run has used." };
  const isUncounted = worst.price === null || usage.cost_usd === null;
  if (max_cost_usd !== undefined && isUncounted && unknownPrice === "refuse")
    return { exceeded: "max_cost_usd", message: worst.price ? uncounted : unpriced };
  const bounded = fit(worst, {
    tokens: (max_total_tokens ?? Number.POSITIVE_INFINITY) - (usage.total_tokens ?? 0),
    nano_usd: isUncounted ? Number.POSITIVE_INFINITY : nanoLeft(max_cost_usd, usage.cost_usd!),
  });
  if ("short" in bounded) return { exceeded: bounded.short, message: shortOf(bounded.short, budget!, usage, worst) };
  return { worst: bounded, max_output_tokens: bounded.max_output_tokens };
}

/** Why a call is not made whose price is unknown, where there is a budget in USD. */
export const unpriced =
  "The model has no known price, so a budget in USD cannot be enforced. The operator can set one (runnel models prices set).";
const uncounted = "It is unknown what the run has cost so far.";

const nanoLeft = (max: number | undefined, spent: number): number =>
  max === undefined ? Number.POSITIVE_INFINITY : nanoUsd(max) - nanoUsd(spent);

function shortOf(limit: keyof Budget, budget: Budget, usage: RunUsage, worst: WorstCase): string {
  const output = worst.fixed ? worst.max_output_tokens : outputMin;
  if (limit === "max_total_tokens")
    return `The run has used ${usage.total_tokens} of ${budget.max_total_tokens} tokens; another model call needs ${worst.input_tokens} for its prompt, as counted here, and ${output} for the answer.`;
  const cost = worstCost({ ...worst, max_output_tokens: output })!;
  return `The run has cost ${usage.cost_usd} of ${budget.max_cost_usd} USD; another model call may cost ${usdOf(cost)} USD.`;
}

/** What a run has used, with what it is about to use. */
export interface BudgetFacts {
  usage: Pick<RunUsage, "total_tokens" | "cost_usd" | "tool_calls">;
  wall_ms: number;
}

/** The first limit that these facts are beyond; null while all hold. Time is up when it is used up. */
export function exceededBy(budget: Budget | null, { usage, wall_ms }: BudgetFacts): Exceeded | null {
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

/** Model calls are looked at before each of them, with what they may cost; time is up when its deadline comes. */
export function tooManyCalls({ run, usage }: Pick<RunState, "run" | "usage">): Exceeded | null {
  const { max_tool_calls } = run?.budget ?? {};
  return max_tool_calls === undefined ? null : exceededBy({ max_tool_calls }, { usage, wall_ms: 0 });
}

/** Limit by limit the lower one; null when neither has any. */
export function tightest(a: Budget | null | undefined, b: Budget | null | undefined): Budget | null {
  const limits: Budget = { ...a };
  for (const [name, limit] of Object.entries(b ?? {}) as [keyof Budget, number][])
    limits[name] = Math.min(limits[name] ?? limit, limit);
  return Object.keys(limits).length > 0 ? limits : null;
}

/** What is left for a child run; of what is unknown nothing is. */
export function remaining(budget: Budget | null, { usage, wall_ms }: BudgetFacts): Budget | null {
  if (!budget) return null;
  const left: Budget = {};
  const { max_total_tokens: tokens, max_cost_usd: cost, max_tool_calls: calls, max_wall_ms: wall } = budget;
  if (tokens !== undefined) left.max_total_tokens = Math.max(0, tokens - (usage.total_tokens ?? tokens));
  if (cost !== undefined) left.max_cost_usd = Math.max(0, usdOf(nanoUsd(cost) - nanoUsd(usage.cost_usd ?? cost)));
  if (calls !== undefined) left.max_tool_calls = Math.max(0, calls - usage.tool_calls);
  if (wall !== undefined) left.max_wall_ms = Math.max(0, wall - wall_ms);
  return left;
}

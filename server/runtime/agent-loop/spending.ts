import { mediaTokens, withoutNativeText } from "../../domain/context-size.ts";
import { costOf, nanoUsd, usdOf } from "../../domain/cost.ts";
import type { Finding } from "../../domain/guardrail-event.ts";
import type { ModelRequest, ModelUsage } from "../../domain/model-call.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { usesUsd } from "../../domain/provider-tools.ts";
import type { ModelSpend, RunUsage } from "../../domain/run-event.ts";
import { priceInTier, specialTier } from "../../domain/service-tier.ts";
import { addModelCall, tokensIn } from "../../domain/usage.ts";
import { unknownUsage } from "../models/model.ts";

/** Result of a model call as far as its cost depends on it; `said` counts UTF-16 code units received. */
export interface Spoken {
  usage: ModelUsage;
  failed: boolean;
  said: number;
  /** True if we aborted the call after the provider had begun to answer: it has read the prompt. */
  aborted?: boolean;
}

/** The model that was asked, by the names of its provider. */
export interface Asked {
  provider: string;
  model: string;
  /** Service tier that was asked for; absent: the standard one. */
  tier?: string;
}

/**
 * Returns the cost of a model call. Without the provider's usage (interrupted, or not reported for streams) it is
 * estimated from the streamed text; a call that failed before any output costs nothing.
 */
export function spendingOf(
  { usage, failed, said, aborted = false }: Spoken,
  request: ModelRequest,
  price: ModelPrice | null,
  asked: Asked = { provider: "", model: "" },
): ModelSpend {
  const { input_tokens, output_tokens } = usage;
  if (input_tokens !== null && output_tokens !== null)
    return { usage, ...pricedAt(price, usage, asked), estimated: false };
  const usesTools = Boolean(usage.web_searches || usage.code_executions);
  if (output_tokens === null && failed && said === 0 && !aborted && !usesTools)
    return { usage: nothing, cost_usd: 0, estimated: false };
  const guess = estimatedUsage(request, said);
  const counted = {
    ...usage,
    input_tokens: input_tokens ?? guess.input_tokens,
    output_tokens: output_tokens ?? guess.output_tokens,
  };
  return { usage: counted, ...pricedAt(price, counted, asked), estimated: true };
}

/**
 * Returns the cost with that of the provider's own tools, and whether it follows an estimated price. The provider says
 * in which tier it answered; without its word, that is the tier that was asked for.
 */
export function pricedAt(
  listed: ModelPrice | null,
  usage: ModelUsage,
  asked: Asked = { provider: "", model: "" },
): Pick<ModelSpend, "cost_usd" | "cost_estimated"> {
  const price = priceInTier(listed, asked.provider, specialTier(usage.service_tier ?? asked.tier));
  const cost_usd = withTools(costOf(price, usage), asked, usage);
  return price?.estimated && cost_usd !== null ? { cost_usd, cost_estimated: true } : { cost_usd };
}

/** Adds the cost of the provider's own tools. */
function withTools(tokens_usd: number | null, { provider, model }: Asked, usage: ModelUsage): number | null {
  const tools_usd = usesUsd(provider, model, usage);
  return tokens_usd === null || tools_usd === 0 ? tokens_usd : usdOf(nanoUsd(tokens_usd) + nanoUsd(tools_usd));
}

/** Returns a run's usage including judges that are not journaled yet. */
export const withFindings = (used: RunUsage, findings: readonly Finding[]): RunUsage =>
  findings.reduce((sum, { spent }) => (spent ? addModelCall(sum, spent) : sum), used);

const nothing: ModelUsage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };

/** Estimates the usage of a call from its request and the length of its answer. */
export function estimatedUsage({ messages, tools, settings }: ModelRequest, said: number): ModelUsage {
  // Per message: serializing all of them at once would double the memory.
  const inputLength = messages.reduce(
    (sum, message) => sum + JSON.stringify(withoutNativeText(message)).length + 1,
    1 + JSON.stringify(tools).length,
  );
  return {
    ...unknownUsage,
    input_tokens: messages.reduce((sum, message) => sum + mediaTokens(message), tokensIn(inputLength)),
    // The provider stops there, so a higher estimate is wrong.
    output_tokens: Math.min(tokensIn(said), settings.max_output_tokens ?? Number.POSITIVE_INFINITY),
  };
}

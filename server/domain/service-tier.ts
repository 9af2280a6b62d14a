import type { ModelSettings } from "./model-call.ts";
import type { ModelPrice } from "./price.ts";
import type { Rates } from "./rates.ts";

/** Tiers at the list price. `auto` leaves the choice to the provider, whose answer says what it chose. */
const standard: ReadonlySet<string> = new Set([
  "default",
  "standard",
  "standard_only",
  "auto",
  "on_demand",
  "unspecified",
]);

/** OpenAI's list of July 2026: from 1.75 to 2.5 times the standard price; flex as its batches. */
const openAi = { flex: 0.5, priority: 2.5, fast: 2.5, ultrafast: 6 };

/**
 * Price of each tier as a multiple of the standard one. The tables of prices have no tiers, and the multiples differ
 * between models, so these are the highest that were found. A cost computed from them is marked as estimated.
 */
const multiples: Record<string, Readonly<Record<string, number>>> = {
  openai: openAi,
  azure: openAi,
  // "Optimization" of the Gemini API: 75 to 100 % more, or half.
  google: { flex: 0.5, priority: 2 },
  // Pricing of Amazon Bedrock: 75 % more, or half.
  bedrock: { flex: 0.5, priority: 1.75 },
  // Fast mode of Claude: up to six times. Its priority tier is paid in advance.
  anthropic: { fast: 6, batch: 0.5, priority: 1 },
};

/** Multiples of providers that publish none: never less than those of any other. */
const unknownProvider: Readonly<Record<string, number>> = { priority: 2.5, fast: 6, ultrafast: 6 };

/** Header by which Vertex AI is asked for a tier. */
const vertexHeader = "x-vertex-ai-llm-shared-request-type";

/** Name of a tier in lower case; null for the standard one. Google has prefixes: Vertex AI names a kind of traffic. */
export const specialTier = (tier: unknown): string | null => {
  const name =
    typeof tier === "string" ? tier.toLowerCase().replace(/^(service_tier|traffic_type|on_demand)_/, "") : "";
  return name === "" || standard.has(name) ? null : name;
};

/** Returns the tier that an agent's own fields and headers ask for; null for the standard one. */
export function requestedTier({ extra_body, provider_options, headers = {} }: ModelSettings): string | null {
  for (const fields of [extra_body, provider_options]) {
    const { service_tier, serviceTier, sharedRequestType, speed } = fields ?? {};
    const tier = service_tier ?? serviceTier ?? sharedRequestType;
    // Bedrock's is an object.
    const name = typeof tier === "object" && tier !== null && "type" in tier ? tier.type : tier;
    const found = specialTier(name) ?? specialTier(speed);
    if (found !== null) return found;
  }
  return specialTier(Object.entries(headers).find(([name]) => name.toLowerCase() === vertexHeader)?.[1]);
}

const multipleOf = (provider: string, tier: string): number =>
  (multiples[provider] ?? unknownProvider)[tier] ?? unknownProvider[tier] ?? 1;

/** Returns the price of a model in a tier, which is an estimate in every tier but the standard one. */
export function priceInTier(price: ModelPrice | null, provider: string, tier: string | null): ModelPrice | null {
  return price && tier !== null ? { ...times(price, multipleOf(provider, tier)), estimated: true } : price;
}

/** Returns the highest price at which a request for a tier may be charged: a provider may answer in the standard one. */
export function dearestInTier(price: ModelPrice | null, provider: string, tier: string | null): ModelPrice | null {
  return price && tier !== null ? times(price, Math.max(1, multipleOf(provider, tier))) : price;
}

const rateNames = ["input", "cached_input", "output", "cache_write_5m", "cache_write_1h"] as const;

function times(price: ModelPrice, multiple: number): ModelPrice {
  const { long_context } = price;
  const longer = long_context && { long_context: { ...long_context, ...multiplied(long_context, multiple) } };
  return { ...price, ...multiplied(price, multiple), ...longer };
}

function multiplied(rates: Rates, multiple: number): Rates {
  const result: Partial<Rates> = {};
  for (const name of rateNames) {
    const rate = rates[name];
    if (rate !== undefined) result[name] = rate * multiple;
  }
  return result as Rates;
}

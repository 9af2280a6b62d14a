import { cacheWritePrices, type ModelPrice } from "../../domain/price.ts";
import type { Provider } from "../../domain/providers.ts";

interface KnownModel {
  provider: Provider;
  model: string;
  context_window: number;
  price: ModelPrice;
}

// Date of the prices below.
const as_of = "2026-04";

/**
 * A few well-known models. List prices of April 2026, from the providers' pricing pages: openai.com/api/pricing,
 * docs.anthropic.com (about-claude/pricing), ai.google.dev/gemini-api/docs/pricing. In USD per million tokens: input,
 * cached input, output.
 */
export const knownModels: readonly KnownModel[] = [
  entry("openai", "gpt-5.1", 400_000, 128_000, [1.25, 0.125, 10]),
  entry("openai", "gpt-5", 400_000, 128_000, [1.25, 0.125, 10]),
  entry("openai", "gpt-5-mini", 400_000, 128_000, [0.25, 0.025, 2]),
  entry("openai", "gpt-5-nano", 400_000, 128_000, [0.05, 0.005, 0.4]),
  entry("openai", "gpt-4.1", 1_047_576, 32_768, [2, 0.5, 8]),
  entry("openai", "gpt-4.1-mini", 1_047_576, 32_768, [0.4, 0.1, 1.6]),
  entry("openai", "gpt-4.1-nano", 1_047_576, 32_768, [0.1, 0.025, 0.4]),
  entry("openai", "gpt-4o", 128_000, 16_384, [2.5, 1.25, 10]),
  entry("openai", "gpt-4o-mini", 128_000, 16_384, [0.15, 0.075, 0.6]),
  entry("openai", "o3", 200_000, 100_000, [2, 0.5, 8]),
  entry("openai", "o4-mini", 200_000, 100_000, [1.1, 0.275, 4.4]),
  entry("anthropic", "claude-opus-4-5", 200_000, 64_000, [5, 0.5, 25]),
  entry("anthropic", "claude-sonnet-4-5", 200_000, 64_000, [3, 0.3, 15]),
  entry("anthropic", "claude-haiku-4-5", 200_000, 64_000, [1, 0.1, 5]),
  entry("anthropic", "claude-opus-4-1", 200_000, 32_000, [15, 1.5, 75]),
  entry("google", "gemini-2.5-pro", 1_048_576, 65_536, [1.25, 0.125, 10], 200_000),
  entry("google", "gemini-2.5-flash", 1_048_576, 65_536, [0.3, 0.03, 2.5]),
  entry("google", "gemini-2.5-flash-lite", 1_048_576, 65_536, [0.1, 0.01, 0.4]),
];

// Embedding models have no output tokens. List prices of the same pages, by full name.
const embeddingPrices: Record<string, number> = {
  "openai/text-embedding-3-small": 0.02,
  "openai/text-embedding-3-large": 0.13,
  "openai/text-embedding-ada-002": 0.1,
  "google/gemini-embedding-001": 0.15,
};

/** Returns a known model, also by a name with a date (`claude-opus-4-5-20251101`). */
export function knownModel(provider: string, model: string): KnownModel | null {
  const find = (name: string) => knownModels.find((known) => known.provider === provider && known.model === name);
  // Only Anthropic's dated names are sure to have the price of the plain name: OpenAI's older snapshots differ.
  const plain = provider === "anthropic" ? model.replace(/-\d{8}$/, "") : model;
  return find(model) ?? find(plain) ?? null;
}

/** Price of built-in models. */
export const freePrice: ModelPrice = { input: 0, cached_input: 0, output: 0, as_of: null, source: "built_in" };

/**
 * Returns the built-in price of a model by its full name, or null. Ollama has none, because its hardware is not free.
 */
export function builtInPrice(fullName: string): ModelPrice | null {
  const [provider = "", ...rest] = fullName.split("/");
  if (provider === "test") return freePrice;
  const input = embeddingPrices[fullName];
  if (input !== undefined) return { input, cached_input: input, output: 0, as_of, source: "built_in" };
  return knownModel(provider, rest.join("/"))?.price ?? null;
}

function entry(
  provider: Provider,
  model: string,
  context_window: number,
  max_output_tokens: number,
  [input, cached_input, output]: [number, number, number],
  priced_up_to?: number,
): KnownModel {
  const beyond = priced_up_to === undefined ? {} : { priced_up_to };
  const writes = cacheWritePrices(provider, input);
  const limits = { ...beyond, max_output_tokens };
  const price: ModelPrice = { input, cached_input, ...writes, output, ...limits, as_of, source: "built_in" };
  return { provider, model, context_window, price };
}

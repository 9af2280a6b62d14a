import type { ModelUsage, Provider } from "./port.ts";

export interface KnownModel {
  provider: Provider;
  model: string;
  context_window: number;
  /** USD per million tokens. */
  price: { input: number; cached_input: number; output: number };
  /** Longer prompts than this are billed at other prices, which are not listed here: their cost is unknown. */
  priced_up_to?: number;
}

/**
 * A few well-known models. List prices of April 2026, from the providers' pricing pages: openai.com/api/pricing,
 * docs.anthropic.com (about-claude/pricing), ai.google.dev/gemini-api/docs/pricing.
 */
export const knownModels: readonly KnownModel[] = [
  entry("openai", "gpt-5.1", 400_000, [1.25, 0.125, 10]),
  entry("openai", "gpt-5", 400_000, [1.25, 0.125, 10]),
  entry("openai", "gpt-5-mini", 400_000, [0.25, 0.025, 2]),
  entry("openai", "gpt-5-nano", 400_000, [0.05, 0.005, 0.4]),
  entry("openai", "gpt-4.1", 1_047_576, [2, 0.5, 8]),
  entry("openai", "gpt-4.1-mini", 1_047_576, [0.4, 0.1, 1.6]),
  entry("openai", "gpt-4.1-nano", 1_047_576, [0.1, 0.025, 0.4]),
  entry("openai", "gpt-4o", 128_000, [2.5, 1.25, 10]),
  entry("openai", "gpt-4o-mini", 128_000, [0.15, 0.075, 0.6]),
  entry("openai", "o3", 200_000, [2, 0.5, 8]),
  entry("openai", "o4-mini", 200_000, [1.1, 0.275, 4.4]),
  entry("anthropic", "claude-opus-4-5", 200_000, [5, 0.5, 25]),
  entry("anthropic", "claude-sonnet-4-5", 200_000, [3, 0.3, 15]),
  entry("anthropic", "claude-haiku-4-5", 200_000, [1, 0.1, 5]),
  entry("anthropic", "claude-opus-4-1", 200_000, [15, 1.5, 75]),
  { ...entry("google", "gemini-2.5-pro", 1_048_576, [1.25, 0.125, 10]), priced_up_to: 200_000 },
  entry("google", "gemini-2.5-flash", 1_048_576, [0.3, 0.03, 2.5]),
  entry("google", "gemini-2.5-flash-lite", 1_048_576, [0.1, 0.01, 0.4]),
];

/** What is known of a model, also by a name with a date after it (`claude-opus-4-5-20251101`). */
export function knownModel(provider: string, model: string): KnownModel | null {
  const find = (name: string) => knownModels.find((known) => known.provider === provider && known.model === name);
  // Only Anthropic's dated names are sure to cost what the plain name costs: OpenAI's older snapshots do not.
  const plain = provider === "anthropic" ? model.replace(/-\d{8}$/, "") : model;
  return find(model) ?? find(plain) ?? null;
}

/** Cost in USD of one call of a model by its full name, or null if a price or a count is unknown. */
export function costOf(fullName: string, usage: ModelUsage): number | null {
  const [provider = "", ...rest] = fullName.split("/");
  if (provider === "test") return 0;
  const known = knownModel(provider, rest.join("/"));
  const { input_tokens: input, output_tokens: output } = usage;
  if (!known || input === null || output === null || input > (known.priced_up_to ?? input)) return null;
  // Providers leave the cached count out when nothing was cached.
  const cached = Math.min(usage.cached_input_tokens ?? 0, input);
  const { price } = known;
  return ((input - cached) * price.input + cached * price.cached_input + output * price.output) / 1_000_000;
}

function entry(
  provider: Provider,
  model: string,
  context_window: number,
  prices: [number, number, number],
): KnownModel {
  const [input, cached_input, output] = prices;
  return { provider, model, context_window, price: { input, cached_input, output } };
}

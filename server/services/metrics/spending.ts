import type { ModelSpend } from "../../domain/run-event.ts";
import type { Instruments } from "./instruments.ts";

// Bounded, because operators and projects choose connection names.
const providersMax = 50;
const modelsMax = 1000;

export type Spending = ReturnType<typeof createSpending>;

/** Counts model calls and their usage by provider, the first part of a model's name. */
export function createSpending({ models }: Instruments) {
  const providers = new Set<string>();
  const cachedProviders = new Map<string, string>(); // Cached, because every step of every run asks.

  function providerOf(model: string | null): string {
    if (model === null) return "other";
    const provider = cachedProviders.get(model);
    if (provider !== undefined) return provider;
    const [name = "other"] = model.split("/");
    if (providers.size < providersMax) providers.add(name);
    if (cachedProviders.size >= modelsMax) cachedProviders.clear();
    const label = providers.has(name) ? name : "other";
    cachedProviders.set(model, label);
    return label;
  }

  return {
    providerOf,
    called: (model: string | null, outcome: string): void => models.calls.inc({ provider: providerOf(model), outcome }),
    spend(model: string | null, spent: ModelSpend | null): void {
      if (!spent) return;
      const provider = providerOf(model);
      const { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens } = spent.usage;
      const { cache_write_5m_tokens, cache_write_1h_tokens } = spent.usage;
      models.tokens.inc({ provider, type: "input" }, input_tokens ?? 0);
      models.tokens.inc({ provider, type: "output" }, output_tokens ?? 0);
      models.tokens.inc({ provider, type: "cached_input" }, cached_input_tokens ?? 0);
      models.tokens.inc({ provider, type: "cache_write_5m" }, cache_write_5m_tokens ?? 0);
      models.tokens.inc({ provider, type: "cache_write_1h" }, cache_write_1h_tokens ?? 0);
      models.tokens.inc({ provider, type: "reasoning" }, reasoning_tokens ?? 0);
      models.cost.inc({ provider }, spent.cost_usd ?? 0);
      if (spent.cost_usd === null) models.unpriced.inc({ provider });
    },
  };
}

import { familyOf, isOtherKind, newestGenerations } from "../../domain/model-family.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { createPriceTable, type PriceLine, type PriceList, type PriceTable } from "../../domain/price-table.ts";
import { listedPrices } from "./listed-prices.ts" with { type: "macro" };

let table: PriceTable | null = null;

/** Returns the built-in table of list prices. Parsed on first use, because most threads never need it. */
export function builtInTable(): PriceTable {
  // The macro's result takes the place of the call.
  table ??= createPriceTable(JSON.parse(listedPrices() as unknown as string) as PriceList, "built_in");
  return table;
}

/** Price of built-in models. */
export const freePrice: ModelPrice = { input: 0, cached_input: 0, output: 0, as_of: null, source: "built_in" };

/**
 * Returns the built-in price of a model by its full name, or null. Ollama has none, because its hardware is not free.
 */
export function builtInPrice(fullName: string, at: number = Date.now()): ModelPrice | null {
  if (fullName.startsWith("test/")) return freePrice;
  return builtInTable().find(fullName, at)?.price ?? null;
}

/** Generations before the newest one that are still offered. */
const offeredBefore = 2;

// Makers whose current models all have a version in their names.
const isVersioned = new Set(["openai", "anthropic", "google"]);

/**
 * Returns the lines of models to chat with, without those that a newer generation replaced long ago: the newest first,
 * and within a generation the cheapest, because the first one is proposed.
 */
export function offeredModels(lines: readonly PriceLine[]): PriceLine[] {
  const families = lines.map((line) => familyOf(...partsOf(line.id)));
  const newest = newestGenerations(families.flatMap((family) => family ?? []));
  const offered = lines.flatMap((line, at) => {
    const family = families[at];
    if (line.rates.output === 0 || isOtherKind(line.id)) return [];
    if (family?.generation == null) return isVersioned.has(partsOf(line.id)[0]) ? [] : [{ line, age: 0 }];
    const age = (newest.get(family.root) ?? 0) - family.generation;
    return age <= offeredBefore ? [{ line, age }] : [];
  });
  return offered.sort((a, b) => a.age - b.age || a.line.rates.output - b.line.rates.output).map(({ line }) => line);
}

export function partsOf(id: string): [provider: string, name: string] {
  const end = id.indexOf("/");
  return [id.slice(0, end), id.slice(end + 1)];
}

import { memoize } from "../lib/memoize.ts";
import { type Candidate, candidatesOf, withoutSnapshot } from "./model-aliases.ts";
import { familyOf, relativesOf } from "./model-family.ts";
import { knownLimits } from "./model-limits.ts";
import type { ModelPrice } from "./price.ts";
import type { Rates } from "./rates.ts";

/** Prices of a line, with those of long prompts. */
export type ListedRates = Pick<ModelPrice, keyof Rates | "long_context">;

/** A line of a price table. */
export interface PriceLine {
  /** Full name: `openai/gpt-5.4`. */
  id: string;
  /** Other names at the same provider. */
  aliases?: readonly string[];
  /** Names with a date have this price too. */
  has_snapshots?: true;
  rates: ListedRates;
  /** Prices that apply from a day on, in order. */
  later?: readonly { from: string; rates: ListedRates }[];
  /** The price depends on the hour: these are the highest. */
  varies?: true;
  context_window?: number;
  max_output_tokens?: number;
  /** Page or file with this price. */
  source: string;
}

export interface PriceList {
  /** Day of these prices, as `2026-09-23`. */
  as_of: string;
  lines: readonly PriceLine[];
}

/** A model's price as a table has it, or as its family suggests. */
export interface Listing {
  price: ModelPrice;
  context_window: number | null;
  source: string;
}

type Place = { line: PriceLine; name: string; isGuess: boolean } | { relatives: readonly PriceLine[] };

export type PriceTable = ReturnType<typeof createPriceTable>;

/** Looks up models in a list of prices, by any of their names. */
export function createPriceTable({ as_of, lines }: PriceList, source: ModelPrice["source"]) {
  const byName = new Map<string, PriceLine>();
  for (const line of lines) {
    const provider = providerOf(line.id);
    for (const name of [nameOf(line.id), ...(line.aliases ?? [])]) {
      const key = `${provider}/${name.toLowerCase()}`;
      if (!byName.has(key)) byName.set(key, line);
    }
  }
  const families = lines.flatMap((line) => {
    const family = familyOf(providerOf(line.id), nameOf(line.id));
    return family && line.rates.output > 0 ? [[family, line] as const] : [];
  });

  function lineOf({ provider, name }: Candidate): PriceLine | null {
    const exact = byName.get(`${provider}/${name}`);
    if (exact) return exact;
    const plain = withoutSnapshot(name);
    const line = plain === null ? undefined : byName.get(`${provider}/${plain}`);
    return line?.has_snapshots ? line : null;
  }

  function listed(line: PriceLine, name: string, at: number, isGuess: boolean): Listing {
    const { rates, from = as_of } = ratesAt(line, at);
    const known = knownLimits(name);
    // Another name of a listed model may have other limits, but an operator's table is right about its own.
    const limits = source === "table" ? { ...known, ...line } : { ...line, ...known };
    return {
      price: {
        ...rates,
        ...(limits.max_output_tokens !== undefined && { max_output_tokens: limits.max_output_tokens }),
        ...((isGuess || line.varies) && { estimated: true as const }),
        as_of: from > as_of ? from : as_of,
        source,
      },
      context_window: limits.context_window ?? null,
      source: line.source,
    };
  }

  /** Returns the other snapshots of a model, or the models of its family. */
  function relativesOfUnknown(provider: string, name: string): readonly PriceLine[] {
    const family = familyOf(provider, name);
    if (!family) return [];
    const plain = withoutSnapshot(name.toLowerCase());
    const isSnapshot = (each: string) => each === plain || withoutSnapshot(each) === plain;
    const snapshots = plain === null ? [] : membersOf(provider).filter(([, { id }]) => isSnapshot(nameOf(id)));
    return snapshots.length > 0 ? snapshots.map(([, line]) => line) : relativesOf(family, membersOf(provider));
  }

  /** Returns the line of a model, or those of its relatives. A run looks its models up several times. */
  const placeOf = memoize((model): Place => {
    const [provider, name] = [providerOf(model), nameOf(model)];
    for (const candidate of candidatesOf(provider, name)) {
      const line = lineOf(candidate);
      if (line) return { line, name: candidate.name, isGuess: candidate.is_guess === true };
    }
    return { relatives: relativesOfUnknown(provider, name) };
  });

  /** Returns the highest prices and the smallest limits of the model's relatives. */
  function estimated(relatives: readonly PriceLine[], at: number): Listing | null {
    const [first] = relatives;
    if (!first) return null;
    const listings = relatives.map((line) => listed(line, nameOf(line.id), at, true));
    const outputs = listings.flatMap(({ price }) => price.max_output_tokens ?? []);
    const windows = listings.flatMap(({ context_window }) => context_window ?? []);
    return {
      price: {
        ...highestRates(listings.map(({ price }) => price)),
        ...(outputs.length > 0 && { max_output_tokens: Math.min(...outputs) }),
        estimated: true,
        as_of,
        source,
      },
      context_window: windows.length > 0 ? Math.min(...windows) : null,
      source: first.source,
    };
  }

  const membersOf = (provider: string) => {
    const places = new Set(candidatesOf(provider, "any").map((each) => each.provider));
    return families.filter(([, line]) => places.has(providerOf(line.id)));
  };

  return {
    as_of,
    lines,
    /** Returns the price of a model by its full name; null if neither it nor its family is listed. */
    find(model: string, at: number): Listing | null {
      const place = placeOf(model);
      return "line" in place ? listed(place.line, place.name, at, place.isGuess) : estimated(place.relatives, at);
    },
  };
}

const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf("/")));
const nameOf = (model: string): string => model.slice(model.indexOf("/") + 1);

function ratesAt({ rates, later = [] }: PriceLine, at: number): { rates: ListedRates; from?: string } {
  return later.findLast(({ from }) => Date.parse(from) <= at) ?? { rates };
}

const kinds = ["input", "cached_input", "output", "cache_write_5m", "cache_write_1h"] as const;

/** Returns the highest of each price, and from the lowest threshold on the highest of those for long prompts. */
export function highestRates(all: readonly ListedRates[]): ListedRates {
  const thresholds = all.flatMap(({ long_context }) => long_context?.above ?? []);
  if (thresholds.length === 0) return highest(all);
  const above = Math.min(...thresholds);
  const long = all.flatMap((rates) => [rates, ...(rates.long_context ? [rates.long_context] : [])]);
  return { ...highest(all), long_context: { above, ...highest(long) } };
}

function highest(all: readonly Rates[]): Rates {
  const most = (kind: (typeof kinds)[number]) => Math.max(...all.map((rates) => rates[kind] ?? 0));
  const writes = (["cache_write_5m", "cache_write_1h"] as const).filter((kind) => most(kind) > 0);
  return {
    input: most("input"),
    cached_input: most("cached_input"),
    output: most("output"),
    ...Object.fromEntries(writes.map((kind) => [kind, most(kind)])),
  };
}

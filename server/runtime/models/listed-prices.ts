import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ModelInfo, type Provider, type ModelPrice as Units, waitForUpdate } from "@pydantic/genai-prices";
import { withoutSnapshot } from "../../domain/model-aliases.ts";
import { highestRates, type ListedRates, type PriceLine, type PriceList } from "../../domain/price-table.ts";

// Runs while the server is built (or loaded from source), as a macro: the executable carries only its result.

/** Publication day of the package, which does not contain one. */
const published: Record<string, string> = { "0.1.8": "2026-09-23" };

/** Providers of the package by runnel's names. */
const providers: readonly (readonly [name: string, listed: string])[] = [
  ["openai", "openai"],
  ["anthropic", "anthropic"],
  ["google", "google"],
  ["vertex", "google"],
  ["mistral", "mistral"],
  ["groq", "groq"],
  ["deepseek", "deepseek"],
  ["xai", "x-ai"],
  ["openrouter", "openrouter"],
  ["together", "together"],
  ["fireworks", "fireworks"],
  ["azure", "azure"],
  ["bedrock", "aws"],
];

/** Returns the prices of the package as JSON of a `PriceList`. */
export async function listedPrices(): Promise<string> {
  const version = packageVersion();
  const as_of = published[version];
  if (as_of === undefined) throw new Error(`Add the publication day of @pydantic/genai-prices ${version}.`);
  const all = (await waitForUpdate()) ?? [];
  const lines = providers.flatMap(([name, listed]) => {
    const provider = all.find(({ id }) => id === listed);
    if (!provider) throw new Error(`@pydantic/genai-prices has no provider ${listed}.`);
    return provider.models.flatMap((model) => lineOf(name, provider, model, as_of) ?? []);
  });
  const list: PriceList = { as_of, lines };
  return JSON.stringify(list);
}

function packageVersion(): string {
  const entry = Bun.resolveSync("@pydantic/genai-prices", import.meta.dir);
  return JSON.parse(readFileSync(join(dirname(entry), "../package.json"), "utf8")).version;
}

function lineOf(name: string, provider: Provider, model: ModelInfo, as_of: string): PriceLine | null {
  const prices = pricesOf(model, as_of);
  const names = namesOf(name, provider, model);
  const [first, ...aliases] = names;
  if (!prices || first === undefined) return null;
  return {
    id: `${name}/${first}`,
    ...(aliases.length > 0 && { aliases }),
    ...(takesSnapshots(name, provider, model, names) && { has_snapshots: true as const }),
    ...prices,
    ...(model.context_window !== undefined && { context_window: model.context_window }),
    source: provider.pricing_urls?.[0] ?? provider.api_pattern,
  };
}

/** Returns the prices in force at the table's day and those announced for later; null without prices of tokens. */
function pricesOf({ id, prices }: ModelInfo, as_of: string): Pick<PriceLine, "rates" | "later" | "varies"> | null {
  if (!Array.isArray(prices)) {
    const rates = ratesOf(id, prices);
    return rates && { rates };
  }
  const byDay = prices.flatMap(({ constraint, prices: units }) => {
    const rates = ratesOf(id, units);
    if (!rates || constraint?.type === "time_of_date") return [];
    return [{ from: constraint?.start_date ?? "", rates }];
  });
  const byHour = prices.flatMap(({ constraint, prices: units }) =>
    constraint?.type === "time_of_date" ? (ratesOf(id, units) ?? []) : [],
  );
  const current = byDay.findLast(({ from }) => from <= as_of);
  const later = byDay.filter(({ from }) => from > as_of);
  if (!current) return null;
  return {
    rates: byHour.length > 0 ? highestRates([current.rates, ...byHour]) : current.rates,
    ...(byHour.length > 0 && { varies: true as const }),
    ...(later.length > 0 && { later }),
  };
}

/** An embedding model has a price of its input only; models priced by other units than tokens have none. */
function ratesOf(id: string, units: Units): ListedRates | null {
  const isFree = /:free$/.test(id) && Object.keys(units).length === 0;
  const isEmbedding = /embed/.test(id);
  if (isFree) return { input: 0, cached_input: 0, output: 0 };
  if (units.input_mtok === undefined || (units.output_mtok === undefined && !isEmbedding)) return null;
  const base = ratesAt(units, 0);
  const starts = Object.values(units).flatMap((unit) => (typeof unit === "object" ? unit.tiers : []));
  const [above, ...others] = [...new Set(starts.map(({ start }) => start))];
  if (others.length > 0) throw new Error(`${id} has more than two prices by length.`);
  return above === undefined ? base : { ...base, long_context: { above, ...ratesAt(units, above + 1) } };
}

function ratesAt(units: Units, length: number): Omit<ListedRates, "long_context"> {
  const at = (unit: Units[string]) =>
    typeof unit === "object" ? (unit.tiers.findLast(({ start }) => length > start)?.price ?? unit.base) : unit;
  const input = at(units.input_mtok) ?? 0;
  const [fiveMinutes, hour] = [at(units.cache_write_mtok), at(units.cache_write_1h_mtok)];
  return {
    input,
    cached_input: at(units.cache_read_mtok) ?? input,
    output: at(units.output_mtok) ?? 0,
    ...(fiveMinutes !== undefined && { cache_write_5m: fiveMinutes }),
    ...(hour !== undefined && { cache_write_1h: hour }),
  };
}

type Match = ModelInfo["match"];

/** Returns the whole names in a rule. A rule such as "begins with claude-sonnet-5" would also take later models. */
function literalsOf(match: Match): string[] {
  if ("or" in match) return match.or.flatMap(literalsOf);
  if ("and" in match) return match.and.flatMap(literalsOf);
  if ("regex" in match) return [];
  return Object.values(match);
}

/** Names of the model that the package itself takes for it and for no model before it. */
function namesOf(name: string, provider: Provider, model: ModelInfo): string[] {
  const all = [model.id, ...literalsOf(model.match)].map((each) => each.toLowerCase());
  if (name === "bedrock") return unique(all.flatMap((each) => bedrockName(model.id, each)));
  const isClaude = (each: string) => each.includes("claude");
  const isWhole = (each: string) => /[a-z\d]$/.test(each) && !/-20\d\d$/.test(each);
  // Variants of a router, and open models that others serve, are listed under their maker too.
  const isServed = (each: string) =>
    name === "openrouter" || !(each.includes(":") || (name === "openai" && each.includes("-oss")));
  return unique(
    all
      .filter((each) => each.startsWith("ft:") || (isWhole(each) && isServed(each)))
      .filter((each) => name !== "openrouter" || each.includes("/"))
      .filter((each) => (name === "google" ? !isClaude(each) : name === "vertex" ? isClaude(each) : true))
      .filter((each) => name === "fireworks" || takes(provider, model, each))
      .map((each) =>
        each.replace(/^accounts\/fireworks\/(models|routers)\//, "").replace(/^(ft:.*?)(-20\d\d)?-$/, "$1"),
      ),
  );
}

/** `regional.anthropic.claude-opus-5-v1:0` is `anthropic.claude-opus-5` here, and `global.…` keeps its prefix. */
function bedrockName(id: string, name: string): string[] {
  const base = name
    .replace(/^(regional|global|us-gov|us|eu|apac|au|jp|in|ca)\./, "")
    .replace(/(-v?\d+)?:\d+$|-v\d+$/, "");
  if (!/^[a-z\d]+\.[a-z]/.test(base)) return [];
  return [id.startsWith("global.") ? `global.${base}` : base];
}

/** True if the package takes names with any date for this model. */
function takesSnapshots(name: string, provider: Provider, model: ModelInfo, names: readonly string[]): boolean {
  if (name === "bedrock") return true;
  const dates = ["-20310102", "-2031-01-02", "@20310102", "-001", "-preview-01-02"];
  return names.some(
    (each) => withoutSnapshot(each) === null && dates.some((date) => takes(provider, model, each + date)),
  );
}

const takes = ({ models }: Provider, model: ModelInfo, name: string): boolean =>
  models.find(({ match }) => matches(match, name)) === model;

function matches(match: Match, name: string): boolean {
  if ("or" in match) return match.or.some((each) => matches(each, name));
  if ("and" in match) return match.and.every((each) => matches(each, name));
  if ("equals" in match) return name === match.equals.toLowerCase();
  if ("starts_with" in match) return name.startsWith(match.starts_with.toLowerCase());
  if ("ends_with" in match) return name.endsWith(match.ends_with.toLowerCase());
  if ("contains" in match) return name.includes(match.contains.toLowerCase());
  return new RegExp(match.regex).test(name);
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];

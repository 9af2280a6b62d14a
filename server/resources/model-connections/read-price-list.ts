import { AppError, type Fault } from "../../domain/errors.ts";
import type { ListedRates, PriceLine, PriceList } from "../../domain/price-table.ts";
import { isObject } from "../../lib/json.ts";

/** Bounds of a table that the operator loads. */
export const priceListMax = { bytes: 1024 * 1024, models: 5000 };

/** Providers whose models a table may list; an own server's models too, by their full name. */
const listedProviders = new Set(
  "openai anthropic google mistral groq deepseek xai openrouter together fireworks azure bedrock vertex".split(" "),
)
  .add("ollama")
  .add("openai_compatible");

// Above any real price per million tokens, to detect units mixed up by mistake.
export const priceMax = 100_000;
const windowMax = 100_000_000;
const faultsMax = 20;
const textMax = 300;

/**
 * Reads a table of prices: `{as_of, models: [{id, input, output, …}]}`. `origin` is the source of lines without one.
 * Throws `validation_failed` with the fault of each line.
 */
export function readPriceList(text: string, origin: string, now: number): PriceList {
  if (Buffer.byteLength(text) > priceListMax.bytes)
    throw new AppError("validation_failed", `A price table has at most ${priceListMax.bytes} bytes.`);
  return checkPriceList(parse(text), origin, now);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("validation_failed", "A price table is JSON, and this is not valid JSON.");
  }
}

/** Checks a parsed table, as `readPriceList`. */
export function checkPriceList(given: unknown, origin: string, now: number): PriceList {
  const faults: Fault[] = [];
  const refuse = (param: string, message: string) =>
    void faults.push({ param, code: "invalid", message: `${param} ${message}` });
  if (!isObject(given)) throw new AppError("validation_failed", "A price table is an object with as_of and models.");
  const { as_of, models, ...others } = given;
  for (const name of Object.keys(others)) refuse(name, "is no field of a price table.");
  if (!isDay(as_of)) refuse("as_of", "must be a day such as 2026-11-29.");
  else if (Date.parse(as_of) > now + 86_400_000) refuse("as_of", "must not be in the future.");
  if (!Array.isArray(models) || models.length === 0) refuse("models", "must be a list of at least one model.");
  else if (models.length > priceListMax.models) refuse("models", `must have at most ${priceListMax.models} models.`);
  if (faults.length > 0 || !Array.isArray(models)) throw faultsOf(faults);
  const seen = new Map<string, number>();
  const lines = models.map((model, at) => readLine(model, `models[${at}]`, { origin, seen, at, refuse }));
  if (faults.length > 0) throw faultsOf(faults);
  return { as_of: as_of as string, lines };
}

/** Returns one error for all faults: the first ones in its message and in `errors`. */
function faultsOf(faults: readonly Fault[]): AppError {
  const errors = faults.slice(0, faultsMax);
  const rest = faults.length - errors.length;
  const message = errors.map((fault) => fault.message).join("\n") + (rest > 0 ? `\n… and ${rest} more.` : "");
  return new AppError("validation_failed", message, { param: errors[0]?.param, errors });
}

type Refuse = (param: string, message: string) => void;

const prices = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"] as const;
const fields = new Set<string>([...prices, "id", "context_window", "max_output_tokens", "long_context", "source"]);

function readLine(
  model: unknown,
  path: string,
  { origin, seen, at, refuse }: { origin: string; seen: Map<string, number>; at: number; refuse: Refuse },
): PriceLine {
  const line = isObject(model) ? model : {};
  if (!isObject(model)) refuse(path, "must be an object.");
  else
    for (const name of Object.keys(line)) if (!fields.has(name)) refuse(`${path}.${name}`, "is no field of a model.");
  const id = readId(line.id, `${path}.id`, refuse);
  const first = seen.get(id);
  if (first !== undefined && id !== "") refuse(`${path}.id`, `is already models[${first}].`);
  seen.set(id, first ?? at);
  const { source = null } = line;
  if (source !== null && !isText(source)) refuse(`${path}.source`, `must be a text of at most ${textMax} characters.`);
  const tokens = (name: "context_window" | "max_output_tokens") => {
    const value = line[name] ?? null;
    if (value === null) return {};
    if (!isTokens(value)) refuse(`${path}.${name}`, "must be a whole number of tokens above 0.");
    return { [name]: value as number };
  };
  return {
    id,
    // Makers with dates in their names do not change the price of a model by its date.
    ...(/^(anthropic|bedrock|vertex)\//.test(id) && { has_snapshots: true as const }),
    rates: readRates(line, path, refuse),
    ...tokens("context_window"),
    ...tokens("max_output_tokens"),
    source: isText(source) ? source : origin,
  };
}

function readId(id: unknown, path: string, refuse: Refuse): string {
  const parts = typeof id === "string" && id.length <= textMax ? /^([a-z_]+)\/([^\s/]\S*)$/.exec(id) : null;
  if (!parts) refuse(path, "must be a model's full name, such as openai/gpt-5.4.");
  else if (!listedProviders.has(String(parts[1])))
    refuse(path, `names the provider ${parts[1]}, which is none of: ${[...listedProviders].join(", ")}.`);
  else if (/\*$/.test(String(id)))
    refuse(path, "must name one model: prices of all models of a server are set by themselves.");
  return parts ? String(id) : "";
}

function readRates(line: Record<string, unknown>, path: string, refuse: Refuse): ListedRates {
  const base = readPrices(line, path, refuse);
  const long = line.long_context ?? null;
  if (long === null) return base;
  if (!isObject(long)) {
    refuse(`${path}.long_context`, "must be an object with above, input and output.");
    return base;
  }
  const { above, ...rest } = long;
  if (!isTokens(above)) refuse(`${path}.long_context.above`, "must be a whole number of tokens above 0.");
  for (const name of Object.keys(rest))
    if (!prices.some((price) => price === name)) refuse(`${path}.long_context.${name}`, "is no price.");
  return { ...base, long_context: { above: above as number, ...readPrices(rest, `${path}.long_context`, refuse) } };
}

function readPrices(line: Record<string, unknown>, path: string, refuse: Refuse): Omit<ListedRates, "long_context"> {
  const read = (name: (typeof prices)[number]): number | null => {
    const value = line[name] ?? null;
    const isRequired = name === "input" || name === "output";
    if (value === null && !isRequired) return null;
    if (!isPrice(value))
      refuse(`${path}.${name}`, `must be a number from 0 to ${priceMax}, in US dollars per million tokens.`);
    return value as number;
  };
  const [input, output, cached, fiveMinutes, hour] = prices.map(read);
  return {
    input: input as number,
    cached_input: (cached ?? input) as number,
    output: output as number,
    ...(fiveMinutes != null && { cache_write_5m: fiveMinutes }),
    ...(hour != null && { cache_write_1h: hour }),
  };
}

const isPrice = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= priceMax;
const isTokens = (value: unknown): boolean =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= windowMax;
const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= textMax;
const isDay = (value: unknown): value is string =>
  typeof value === "string" &&
  /^\d{4}-\d{2}-\d{2}$/.test(value) &&
  new Date(`${value}T00:00:00Z`).toJSON()?.slice(0, 10) === value;

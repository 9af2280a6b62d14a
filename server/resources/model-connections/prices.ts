import { eq, sql } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import type { ListedModel } from "../../domain/listed-model.ts";
import { knownLimits } from "../../domain/model-limits.ts";
import { cacheWritePrices, type ModelPrice } from "../../domain/price.ts";
import {
  createPriceTable,
  type Listing,
  type PriceLine,
  type PriceList,
  type PriceTable,
} from "../../domain/price-table.ts";
import { timestamp } from "../../domain/time.ts";
import { builtInTable, freePrice, partsOf } from "../../runtime/models/known-models.ts";
import { parseModel } from "../../runtime/models/registry.ts";
import type { Actor, StoreBase } from "../../storage/db/audit.ts";
import { modelPrices, modelPriceTable } from "../../storage/db/schema.ts";
import { providerOfHost } from "./provider-hosts.ts";
import { priceMax } from "./read-price-list.ts";

/** A price that the operator set, in USD per million tokens. */
type PriceInput = Omit<Row, "model" | "set_at_ms" | "cache_write_5m" | "cache_write_1h"> &
  Partial<Pick<Row, "cache_write_5m" | "cache_write_1h">>;

type Row = typeof modelPrices.$inferSelect;

/** The table of list prices in force. */
interface TableInfo {
  source: "built_in" | "table";
  as_of: string;
  /** File or address that the operator loaded; null for the built-in table. */
  origin: string | null;
  models: number;
  loaded_at_ms: number | null;
}

export type PriceStore = ReturnType<typeof createPriceStore>;

interface PriceStoreOptions extends StoreBase {
  /** Returns the base URL of a connection to an OpenAI-compatible server, by its name. */
  addressOf?(connection: string): string | null;
  /** Returns what the server's own list says of a model by its full name. */
  listed?(model: string): ListedEntry | null;
}

/** A model in the list of its server, and when that was read. */
export type ListedEntry = ListedModel & { read_at_ms: number };

/**
 * Prices of models: those that the operator set, else those of the server's own list, else those of the table that the
 * operator loaded, else the built-in ones. The command line may change them while the server runs.
 */
export function createPriceStore({
  db,
  audit,
  addressOf = () => null,
  listed = () => null,
  now = Date.now,
}: PriceStoreOptions) {
  const { orm } = db;
  const select = orm
    .select()
    .from(modelPrices)
    .where(eq(modelPrices.model, sql.placeholder("model")))
    .prepare();
  const selectAll = orm.select().from(modelPrices).orderBy(modelPrices.model).prepare();
  const { version, as_of, origin, models, loaded_at_ms } = modelPriceTable;
  const selectHead = orm.select({ version, as_of, origin, models, loaded_at_ms }).from(modelPriceTable).prepare();
  const selectLines = orm.select({ lines: modelPriceTable.lines }).from(modelPriceTable).prepare();

  /** The operator's price of a model, or of all models of its server. */
  const given = db.kept.rows(
    (model: string): Row | null => select.get({ model }) ?? select.get({ model: anyOf(model) }) ?? null,
  ).of;
  const head = db.kept.rows(() => selectHead.get() ?? null).of;

  let loaded: { version: string; table: PriceTable } | null = null;

  /** The table in force. A loaded one is parsed once. */
  function table(): PriceTable {
    const row = head();
    if (!row) return builtInTable();
    if (loaded?.version !== row.version) {
      const lines = JSON.parse(selectLines.get()?.lines ?? "[]") as PriceLine[];
      loaded = { version: row.version, table: createPriceTable({ as_of: row.as_of, lines }, "table") };
    }
    return loaded.table;
  }

  /** A loaded table may lack limits: they are properties of the model. */
  function listing(model: string): Listing | null {
    const name = listedName(model, addressOf);
    const found = table().find(name, now());
    if (!found || table() === builtInTable()) return found;
    const known = builtInTable().find(name, now());
    const max_output_tokens = found.price.max_output_tokens ?? known?.price.max_output_tokens;
    return {
      ...found,
      price: { ...found.price, ...(max_output_tokens !== undefined && { max_output_tokens }) },
      context_window: found.context_window ?? known?.context_window ?? null,
    };
  }

  return {
    given,
    all: (): Row[] => selectAll.all(),

    /** Price of a model by its full name; null if unknown. */
    priceOf(model: string): ModelPrice | null {
      const row = given(model);
      if (row) return toPrice(row, listing(model)?.price.max_output_tokens);
      if (model.startsWith("test/")) return freePrice;
      const inTable = listing(model)?.price ?? null;
      return serverPrice(listed(model), inTable) ?? inTable;
    },

    /** Context window of a model by its full name, in tokens; null if unknown. */
    windowOf(model: string): number | null {
      return given(model)?.context_window ?? listed(model)?.context_window ?? listing(model)?.context_window ?? null;
    },

    /** Page or file that lists a model's price; null if the operator set it or there is none. */
    referenceOf: (model: string): string | null => (given(model) ? null : (listing(model)?.source ?? null)),

    /** Lines of the table in force. */
    lines: (): readonly PriceLine[] => table().lines,

    table(): TableInfo {
      const row = head();
      const builtIn = builtInTable();
      return row
        ? { source: "table", as_of: row.as_of, origin: row.origin, models: row.models, loaded_at_ms: row.loaded_at_ms }
        : { source: "built_in", as_of: builtIn.as_of, origin: null, models: builtIn.lines.length, loaded_at_ms: null };
    },

    /** Replaces the table. Runs that begin from now on use it. */
    load: ({ as_of, lines }: PriceList, origin: string, actor: Actor): Promise<void> =>
      db.write(() => {
        const values = {
          version: crypto.randomUUID(),
          as_of,
          origin,
          models: lines.length,
          lines: JSON.stringify(lines),
          loaded_at_ms: now(),
        };
        orm
          .insert(modelPriceTable)
          .values({ id: 1, ...values })
          .onConflictDoUpdate({ target: modelPriceTable.id, set: values })
          .run();
        audit.note({ actor }, "price_table.loaded", origin, { as_of, models: lines.length });
      }),

    /** Restores the built-in table. False if no other one was loaded. */
    unload: (actor: Actor): Promise<boolean> =>
      db.write(() => {
        const row = orm.delete(modelPriceTable).returning({ origin: modelPriceTable.origin }).get();
        if (!row) return false;
        audit.note({ actor }, "price_table.reset", row.origin);
        return true;
      }),

    /** Sets a model's price. The next run that starts pins it. */
    async set(model: string, price: PriceInput, actor: Actor): Promise<void> {
      requireModel(model, price);
      const { cache_write_5m = null, cache_write_1h = null, ...others } = price;
      for (const usd of [price.input, price.cached_input, price.output, cache_write_5m ?? 0, cache_write_1h ?? 0])
        if (!(usd >= 0 && usd <= priceMax))
          throw new AppError("validation_failed", `A price must be from 0 to ${priceMax} USD per million tokens.`);
      const { input, cached_input, output, context_window } = others;
      await db.write(() => {
        const prices = { input, cached_input, output, context_window, cache_write_5m, cache_write_1h };
        const values = { ...prices, set_at_ms: now() };
        orm
          .insert(modelPrices)
          .values({ model, ...values })
          .onConflictDoUpdate({ target: modelPrices.model, set: values })
          .run();
        audit.note({ actor }, "model_price.set", model, price);
      });
    },

    /** Restores the listed price, if there is one. False if no price was set. */
    reset: (model: string, actor: Actor): Promise<boolean> =>
      db.write(() => {
        if (!orm.delete(modelPrices).where(eq(modelPrices.model, model)).returning().get()) return false;
        audit.note({ actor }, "model_price.reset", model);
        return true;
      }),
  };
}

/** Prices of long prompts and of writing to a cache are often missing in a server's list: the table has them. */
function serverPrice(listed: ListedEntry | null, inTable: ModelPrice | null): ModelPrice | null {
  if (!listed?.price) return null;
  const limit = listed.max_output_tokens === null ? {} : { max_output_tokens: listed.max_output_tokens };
  const { cache_write_5m, cache_write_1h, long_context } = inTable ?? {};
  const missing = {
    ...(cache_write_5m !== undefined && { cache_write_5m }),
    ...(cache_write_1h !== undefined && { cache_write_1h }),
    ...(long_context !== undefined && { long_context }),
  };
  return { ...missing, ...listed.price, ...limit, as_of: timestamp(listed.read_at_ms).slice(0, 10), source: "server" };
}

/** The output limit is a property of the model, whatever price the operator sets. */
function toPrice({ model, ...row }: Row, listedMax: number | undefined): ModelPrice {
  const { input, cached_input, output, cache_write_5m, cache_write_1h, set_at_ms } = row;
  const max_output_tokens = listedMax ?? knownLimits(partsOf(model)[1]).max_output_tokens;
  return {
    input,
    cached_input,
    ...cacheWritePrices(model, input),
    output,
    ...(cache_write_5m !== null && { cache_write_5m }),
    ...(cache_write_1h !== null && { cache_write_1h }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    as_of: timestamp(set_at_ms).slice(0, 10),
    source: "operator",
  };
}

/** A gateway sets its own prices, but a connection that leads to a provider's own server has the provider's. */
function listedName(model: string, addressOf: (connection: string) => string | null): string {
  const [, connection, name] = /^openai_compatible\/([^/]+)\/(.+)$/.exec(model) ?? [];
  if (connection === undefined || name === undefined) return model;
  const address = addressOf(connection);
  const provider = address === null ? null : providerOfHost(address);
  return provider === connection ? `${provider}/${name}` : model;
}

/** Wildcard for all models of a self-hosted server: `ollama/*`, `openai_compatible/gpu/*`; else the model itself. */
const anyOf = (model: string): string => model.replace(/^(ollama|openai_compatible\/[^/]+)\/.*$/, "$1/*");
const isOwnServer = (provider: string): boolean => provider === "ollama" || provider === "openai_compatible";

function requireModel(model: string, { input, cached_input, output }: PriceInput): void {
  const parsed = parseModel(model);
  const isPriced = input > 0 || cached_input > 0 || output > 0;
  const problem = !parsed
    ? `"${model}" names no model. Models look like openai/gpt-5 or openai_compatible/gpu/llama.`
    : parsed.provider === "test" && isPriced
      ? "Built-in test models are free: give 0 for their price, and a context window to try what long runs do."
      : parsed.model === "*" && !isOwnServer(parsed.provider)
        ? `Each model of ${parsed.provider} has a price of its own: name it.`
        : null;
  if (problem) throw new AppError("validation_failed", problem, { param: "model" });
}

import { eq, sql } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import type { ListedModel } from "../../domain/listed-model.ts";
import { cacheWritePrices, type ModelPrice } from "../../domain/price.ts";
import { timestamp } from "../../domain/time.ts";
import { builtInPrice, knownModel } from "../../runtime/models/known-models.ts";
import { parseModel } from "../../runtime/models/registry.ts";
import type { Actor, StoreBase } from "../../storage/db/audit.ts";
import { modelPrices } from "../../storage/db/schema.ts";

/** A price that the operator set, in USD per million tokens. */
type PriceInput = Omit<Row, "model" | "set_at_ms">;

type Row = typeof modelPrices.$inferSelect;

export type PriceStore = ReturnType<typeof createPriceStore>;

// Above any real price per million tokens, to detect units mixed up by mistake.
const priceMax = 100_000;

/** A model in the list of its server, and when that was read. */
export type ListedEntry = ListedModel & { read_at_ms: number };

/**
 * Prices of models: the operator's override those of the server's own list, and these the built-in ones. The command
 * line may change them while the server runs.
 */
export function createPriceStore({
  db,
  audit,
  now = Date.now,
  listed = () => null,
}: StoreBase & {
  /** Returns what the server's own list says of a model by its full name. */
  listed?(model: string): ListedEntry | null;
}) {
  const { orm } = db;
  const select = orm
    .select()
    .from(modelPrices)
    .where(eq(modelPrices.model, sql.placeholder("model")))
    .prepare();
  const selectAll = orm.select().from(modelPrices).orderBy(modelPrices.model).prepare();

  /** The operator's price of a model, or of all models of its server. */
  const given = db.kept.rows(
    (model: string): Row | null => select.get({ model }) ?? select.get({ model: anyOf(model) }) ?? null,
  ).of;

  return {
    given,
    all: (): Row[] => selectAll.all(),

    /** Price of a model by its full name; null if unknown. */
    priceOf(model: string): ModelPrice | null {
      const row = given(model);
      return row ? toPrice(row) : (serverPrice(listed(model)) ?? builtInPrice(model));
    },

    /** Context window of a model by its full name, in tokens; null if unknown. */
    windowOf(model: string): number | null {
      const [provider = "", ...rest] = model.split("/");
      return (
        given(model)?.context_window ??
        listed(model)?.context_window ??
        knownModel(provider, rest.join("/"))?.context_window ??
        null
      );
    },

    /** Sets a model's price. The next run that starts pins it. */
    async set(model: string, price: PriceInput, actor: Actor): Promise<void> {
      requireModel(model, price);
      for (const usd of [price.input, price.cached_input, price.output])
        if (!(usd >= 0 && usd <= priceMax))
          throw new AppError("validation_failed", `A price must be from 0 to ${priceMax} USD per million tokens.`);
      const { input, cached_input, output, context_window } = price;
      await db.write(() => {
        const values = { input, cached_input, output, context_window, set_at_ms: now() };
        orm
          .insert(modelPrices)
          .values({ model, ...values })
          .onConflictDoUpdate({ target: modelPrices.model, set: values })
          .run();
        audit.note({ actor }, "model_price.set", model, price);
      });
    },

    /** Restores the built-in price, if there is one. False if no price was set. */
    reset: (model: string, actor: Actor): Promise<boolean> =>
      db.write(() => {
        if (!orm.delete(modelPrices).where(eq(modelPrices.model, model)).returning().get()) return false;
        audit.note({ actor }, "model_price.reset", model);
        return true;
      }),
  };
}

function serverPrice(listed: ListedEntry | null): ModelPrice | null {
  if (!listed?.price) return null;
  const limit = listed.max_output_tokens === null ? {} : { max_output_tokens: listed.max_output_tokens };
  return { ...listed.price, ...limit, as_of: timestamp(listed.read_at_ms).slice(0, 10), source: "server" };
}

/** The output limit is a property of the model, whatever price the operator sets. */
function toPrice({ model, input, cached_input, output, set_at_ms }: Row): ModelPrice {
  const [provider = "", ...rest] = model.split("/");
  const maxOutputTokens = knownModel(provider, rest.join("/"))?.price.max_output_tokens;
  const as_of = timestamp(set_at_ms).slice(0, 10);
  return {
    input,
    cached_input,
    ...cacheWritePrices(provider, input),
    output,
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    as_of,
    source: "operator",
  };
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

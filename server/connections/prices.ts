import { eq, sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import type { ModelPrice } from "../core/price.ts";
import { timestamp } from "../core/time.ts";
import type { Actor, StoreBase } from "../db/audit.ts";
import { modelPrices } from "../db/schema.ts";
import { builtInPrice, knownModel } from "../models/known-models.ts";
import { parseModel } from "../models/registry.ts";

/** A price as the operator gives it, in USD per million tokens. */
type GivenPrice = Omit<Row, "model" | "set_at_ms">;

type Row = typeof modelPrices.$inferSelect;

export type PriceStore = ReturnType<typeof createPriceStore>;

// More than anybody takes for a million tokens: a price per token, given by mistake, may not look like one of these.
const priceMax = 100_000;

/**
 * What models cost: the operator's word before the prices that come along. The command line may change them while the
 * server runs.
 */
export function createPriceStore({ db, audit, now = Date.now }: StoreBase) {
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

    /** What a model costs, by its full name; null when nobody knows. */
    priceOf(model: string): ModelPrice | null {
      const row = given(model);
      return row ? toPrice(row) : builtInPrice(model);
    },

    /** How many tokens a model takes, prompt and answer together, by its full name; null when nobody knows. */
    windowOf(model: string): number | null {
      const [provider = "", ...rest] = model.split("/");
      return given(model)?.context_window ?? knownModel(provider, rest.join("/"))?.context_window ?? null;
    },

    /** Sets a model's price. The next run that begins pins it. */
    async set(model: string, price: GivenPrice, actor: Actor): Promise<void> {
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

    /** Goes back to the price that came along, if one did. False when there was nothing to take back. */
    reset: (model: string, actor: Actor): Promise<boolean> =>
      db.write(() => {
        if (!orm.delete(modelPrices).where(eq(modelPrices.model, model)).returning().get()) return false;
        audit.note({ actor }, "model_price.reset", model);
        return true;
      }),
  };
}

/** How long answers may be is the model's nature, whatever the operator says of its price. */
function toPrice({ model, input, cached_input, output, set_at_ms }: Row): ModelPrice {
  const [provider = "", ...rest] = model.split("/");
  const most = knownModel(provider, rest.join("/"))?.price.max_output_tokens;
  const as_of = timestamp(set_at_ms).slice(0, 10);
  return {
    input,
    cached_input,
    output,
    ...(most !== undefined && { max_output_tokens: most }),
    as_of,
    source: "operator",
  };
}

/** The name that stands for every model of a server of one's own: `ollama/*`, `openai_compatible/gpu/*`; else the model. */
const anyOf = (model: string): string => model.replace(/^(ollama|openai_compatible\/[^/]+)\/.*$/, "$1/*");
const isOwnServer = (provider: string): boolean => provider === "ollama" || provider === "openai_compatible";

function requireModel(model: string, { input, cached_input, output }: GivenPrice): void {
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

import { nameOf } from "../../core/scope.ts";
import type { Log } from "../../lib/log.ts";
import { remoteEmbedding } from "../../models/embedding.ts";
import { EmbeddingError } from "../../models/embedding-error.ts";
import { BudgetError, type Pay, type Payer, read, readingOf, unpaid } from "../../models/payer.ts";
import type { Connection } from "../../models/port.ts";
import { createBuiltIn } from "./built-in.ts";

import { type BuiltInModel, builtInModels, isHere, notHere } from "./models.ts";
import { findOwnModel, type OwnModel, ownPrefix } from "./own-models.ts";

export { EmbeddingError } from "../../models/embedding-error.ts";

/** Turns texts into unit vectors of one model, one a text and in their order. Throws `EmbeddingError`. */
export interface Embedder {
  embed(texts: readonly string[], signal?: AbortSignal, use?: Use): Promise<Float32Array[]>;
}

/** Models may read what is searched for another way than what is found: by default it is this. */
type Use = "passage" | "query";

export interface EmbeddersOptions {
  /** Where a provider's model is reached; throws when it is not. */
  resolve(model: string): { connection: Connection; model: string };
  /** Who is paid by texts' owners; by default nobody. */
  pay?: Pay;
  log: Log;
  idle_ms?: number;
  /** Where the operator's own models are; null: nowhere. */
  folder?: string | null;
}

export type Embedders = ReturnType<typeof createEmbedders>;

/** All embedding models by their full names: the built-in ones, and those of the operator's connections. */
export function createEmbedders({ resolve, pay = unpaid, log, idle_ms, folder = null }: EmbeddersOptions) {
  const builtIn = createBuiltIn({ log, idle_ms });

  function reach(model: string): ReturnType<EmbeddersOptions["resolve"]> {
    if (model.startsWith("builtin/")) throw notAvailable(notHere(model));
    if (model.startsWith(ownPrefix))
      throw notAvailable(`There is no ${model} on this machine: "runnel embedder add" adds one.`);
    try {
      return resolve(model);
    } catch (error) {
      throw notAvailable(error instanceof Error ? error.message : `${model} is not available.`);
    }
  }

  async function remote(
    model: string,
    dimensions: number | null,
    texts: readonly string[],
    { payer, signal }: { payer?: Payer; signal?: AbortSignal },
  ) {
    // Asked anew for every call, as the operator may change connections at any time.
    const reached = reach(model);
    if (!payer) return await remoteEmbedding({ ...reached, dimensions }).embed(texts, signal);
    try {
      return await pay(payer, { model, request: readingOf(texts), signal }, (count) =>
        remoteEmbedding({
          ...reached,
          dimensions,
          count: (tokens, part) => count({ ...read(tokens), request: readingOf(part) }),
        }).embed(texts, signal),
      );
    } catch (error) {
      if (error instanceof BudgetError) throw new EmbeddingError("budget_exceeded", error.message, true);
      throw error;
    }
  }

  /** Of a model that runs here. */
  function embedderOf(
    model: string,
    here: BuiltInModel | OwnModel,
    made: number,
    dimensions: number | null,
    payer?: Payer,
  ): Embedder {
    return {
      async embed(texts, signal, use) {
        if (dimensions !== null && dimensions !== made) throw otherLength(model, made, dimensions);
        const prefix = typeof here === "string" ? "" : use === "query" ? here.query_prefix : here.prefix;
        return await builtIn.embed(here, texts, signal, { owner: payer && nameOf(payer), prefix });
      },
    };
  }

  return {
    /**
     * The embedder of a model by its full name, for vectors of one length: null is the model's own. Those who pay for
     * texts take turns with the models of here, and pay for those of others.
     */
    of(model: string, dimensions: number | null, payer?: Payer): Embedder {
      const own = findOwnModel(folder, model);
      if (own) return embedderOf(model, own, own.dimensions, dimensions, payer);
      if (!isHere(model)) return { embed: (texts, signal) => remote(model, dimensions, texts, { payer, signal }) };
      return embedderOf(model, model, builtInModels[model].dimensions, dimensions, payer);
    },
    /** The length of a model's vectors, which is what it answers; the built-in ones' are known. */
    async probe(model: string, payer?: Payer, signal?: AbortSignal): Promise<number> {
      if (isHere(model)) return builtInModels[model].dimensions;
      const own = findOwnModel(folder, model);
      if (own) return own.dimensions;
      const [vector] = await remote(model, null, ["dimensions"], { payer, signal });
      return vector!.length;
    },
    stop: builtIn.stop,
  };
}

const notAvailable = (message: string) => new EmbeddingError("model_not_available", message);

const otherLength = (model: string, made: number, dimensions: number) =>
  new EmbeddingError("dimensions_mismatch", `${model} gives vectors of ${made} dimensions, and not of ${dimensions}.`);

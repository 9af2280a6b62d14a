import { nameOf } from "../../../domain/scope.ts";
import type { Log } from "../../../lib/log.ts";
import { remoteEmbedding } from "../../models/embedding.ts";
import { EmbeddingError } from "../../models/embedding-error.ts";
import type { Connection } from "../../models/model.ts";
import type { Fetch } from "../../models/model-fetch.ts";
import { BudgetError, type Pay, read, readingOf, type SpendGuard, unpaid } from "../../models/spend-guard.ts";
import { EmbeddingThread } from "./built-in.ts";

import { type BuiltInModel, builtInModels, isBuiltIn, unavailableReason } from "./models.ts";
import { findOwnModel, type OwnModel, ownPrefix } from "./own-models.ts";

export { EmbeddingError } from "../../models/embedding-error.ts";

/** Returns one unit vector per text, in their order. Throws `EmbeddingError`. */
export interface Embedder {
  embed(texts: readonly string[], signal?: AbortSignal, use?: Use): Promise<Float32Array[]>;
}

/** Models may embed search queries differently from stored passages. Default: passage. */
type Use = "passage" | "query";

interface EmbeddersOptions {
  /** Returns the connection of a provider's model. Throws if it is not available. */
  resolve(model: string): { connection: Connection; model: string; fetch?: Fetch };
  /** Charges the payer for a provider's tokens; by default nothing is charged. */
  pay?: Pay;
  log: Log;
  idle_ms?: number;
  /** Folder of the operator's own models; null: none. */
  folder?: string | null;
}

export type Embedders = ReturnType<typeof createEmbedders>;

/** Creates embedders for all models by full name: built-in ones, the operator's own, and those of connections. */
export function createEmbedders({ resolve, pay = unpaid, log, idle_ms, folder = null }: EmbeddersOptions) {
  const builtIn = new EmbeddingThread({ log, idle_ms });

  function reach(model: string): ReturnType<EmbeddersOptions["resolve"]> {
    if (model.startsWith("builtin/")) throw notAvailable(unavailableReason(model));
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
    { payer, signal }: { payer?: SpendGuard; signal?: AbortSignal },
  ) {
    // Resolved for every call, because the operator may change connections at any time.
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

  /** Returns the embedder of a model that runs on this machine. */
  function embedderOf(
    model: string,
    localModel: BuiltInModel | OwnModel,
    modelDimensions: number,
    dimensions: number | null,
    payer?: SpendGuard,
  ): Embedder {
    return {
      async embed(texts, signal, use) {
        if (dimensions !== null && dimensions !== modelDimensions)
          throw otherLength(model, modelDimensions, dimensions);
        const prefix =
          typeof localModel === "string" ? "" : use === "query" ? localModel.query_prefix : localModel.prefix;
        return await builtIn.embed(localModel, texts, signal, { owner: payer && nameOf(payer), prefix });
      },
    };
  }

  return {
    /**
     * Returns the embedder of a model by its full name. `dimensions` null means the model's own. Payers are scheduled
     * fairly on local models, and are charged for remote ones.
     */
    of(model: string, dimensions: number | null, payer?: SpendGuard): Embedder {
      const own = findOwnModel(folder, model);
      if (own) return embedderOf(model, own, own.dimensions, dimensions, payer);
      if (!isBuiltIn(model)) return { embed: (texts, signal) => remote(model, dimensions, texts, { payer, signal }) };
      return embedderOf(model, model, builtInModels[model].dimensions, dimensions, payer);
    },
    /** Returns the length of a model's vectors: known for local models, else from a test call. */
    async probe(model: string, payer?: SpendGuard, signal?: AbortSignal): Promise<number> {
      if (isBuiltIn(model)) return builtInModels[model].dimensions;
      const own = findOwnModel(folder, model);
      if (own) return own.dimensions;
      const [vector] = await remote(model, null, ["dimensions"], { payer, signal });
      if (!vector) throw notAvailable(`${model} gave no vector.`);
      return vector.length;
    },
    stop: () => builtIn.stop(),
  };
}

const notAvailable = (message: string) => new EmbeddingError("model_not_available", message);

const otherLength = (model: string, made: number, dimensions: number) =>
  new EmbeddingError("dimensions_mismatch", `${model} gives vectors of ${made} dimensions, and not of ${dimensions}.`);

import type { Log } from "../../lib/log.ts";
import { remoteEmbedding } from "../../models/embedding.ts";
import { EmbeddingError } from "../../models/embedding-error.ts";
import type { Connection } from "../../models/port.ts";
import { createBuiltIn } from "./built-in.ts";

export { EmbeddingError } from "../../models/embedding-error.ts";

/** The model that needs no provider. It reads English; of other scripts it knows which words are the same. */
export const builtInEmbedding = { model: "builtin/use-lite-512", dimensions: 512 } as const;

/** Turns texts into unit vectors of one model, one a text and in their order. Throws `EmbeddingError`. */
export interface Embedder {
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

export interface EmbeddersOptions {
  /** Where a provider's model is reached; throws when it is not. */
  resolve(model: string): { connection: Connection; model: string };
  log: Log;
  idle_ms?: number;
}

export type Embedders = ReturnType<typeof createEmbedders>;

/** All embedding models by their full names: the built-in one, and those of the operator's connections. */
export function createEmbedders({ resolve, log, idle_ms }: EmbeddersOptions) {
  const builtIn = createBuiltIn({ log, idle_ms });

  function reach(model: string): ReturnType<EmbeddersOptions["resolve"]> {
    if (model.startsWith("builtin/"))
      throw notAvailable(`There is no ${model}: the built-in embedding model is ${builtInEmbedding.model}.`);
    try {
      return resolve(model);
    } catch (error) {
      throw notAvailable(error instanceof Error ? error.message : `${model} is not available.`);
    }
  }

  async function remote(model: string, dimensions: number | null, texts: readonly string[], signal?: AbortSignal) {
    // Asked anew for every call, as the operator may change connections at any time.
    return await remoteEmbedding({ ...reach(model), dimensions }).embed(texts, signal);
  }

  return {
    /** The embedder of a model by its full name, for vectors of one length: null is the model's own. Owners of texts take queue. */
    of(model: string, dimensions: number | null, owner?: string): Embedder {
      if (model !== builtInEmbedding.model)
        return { embed: (texts, signal) => remote(model, dimensions, texts, signal) };
      return {
        async embed(texts, signal) {
          if (dimensions !== null && dimensions !== builtInEmbedding.dimensions) throw otherLength(dimensions);
          return await builtIn.embed(texts, signal, owner);
        },
      };
    },
    /** The length of a model's vectors, which is what it answers; the built-in one's is known. */
    async probe(model: string, signal?: AbortSignal): Promise<number> {
      if (model === builtInEmbedding.model) return builtInEmbedding.dimensions;
      const [vector] = await remote(model, null, ["dimensions"], signal);
      return vector!.length;
    },
    stop: builtIn.stop,
  };
}

const notAvailable = (message: string) => new EmbeddingError("model_not_available", message);

const otherLength = (dimensions: number) =>
  new EmbeddingError(
    "dimensions_mismatch",
    `${builtInEmbedding.model} gives vectors of ${builtInEmbedding.dimensions} numbers, and not of ${dimensions}.`,
  );

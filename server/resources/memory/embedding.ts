import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { invalid } from "../../http/errors.ts";
import type { SpendGuard } from "../../runtime/models/spend-guard.ts";
import { type Embedder, EmbeddingError } from "../../runtime/retrieval/embeddings/embedder.ts";
import {
  type BuiltInModel,
  builtInModels,
  defaultModel,
  isBuiltIn,
} from "../../runtime/retrieval/embeddings/models.ts";
import type { Embedding } from "./schema.ts";

export interface ChosenEmbedding {
  model: string;
  dimensions: number;
}

/** Embedders by model name. */
export interface Embedders {
  /** Embedder for these dimensions; null: the model's default. */
  of(model: string, dimensions: number | null, payer?: SpendGuard): Embedder;
  /** Returns the dimensions of a model's vectors. */
  probe(model: string, payer?: SpendGuard, signal?: AbortSignal): Promise<number>;
}

export type EmbeddingChooser = ReturnType<typeof createEmbeddingChooser>;

const probe_ms = 20_000;

/** Chooses a store's embedding. A model that is not built in is called once, because a name alone proves nothing. */
export function createEmbeddingChooser({ embedders }: { embedders: Embedders }) {
  async function dimensionsOf({ model, dimensions }: Embedding, payer: SpendGuard): Promise<number> {
    const signal = AbortSignal.timeout(probe_ms);
    if (dimensions === undefined) return await embedders.probe(model, payer, signal);
    await embedders.of(model, dimensions, payer).embed(["Hello"], signal);
    return dimensions;
  }

  return {
    async choose(requestedEmbedding: Embedding | null, payer: SpendGuard): Promise<ChosenEmbedding> {
      const embedding = requestedEmbedding ?? { model: defaultModel };
      if (isBuiltIn(embedding.model)) return builtIn(embedding);
      const dimensions = await dimensionsOf(embedding, payer).catch((error) => {
        throw refusalOf(error, embedding.model);
      });
      if (dimensions > limits.embedding_dimensions)
        throw invalid(
          "embedding.model",
          `Its vectors have ${dimensions} dimensions, more than ${limits.embedding_dimensions}.`,
        );
      return { model: embedding.model, dimensions };
    },
  };
}

function builtIn({ model, dimensions }: Embedding): ChosenEmbedding {
  const known = builtInModels[model as BuiltInModel].dimensions;
  if (dimensions !== undefined && dimensions !== known)
    throw invalid("embedding.dimensions", `Must be ${known}: ${model} makes no others.`);
  return { model, dimensions: known };
}

function refusalOf(error: unknown, model: string): unknown {
  if (error instanceof EmbeddingError && error.code === "dimensions_mismatch")
    return invalid("embedding.dimensions", error.message);
  return embeddingRefusal(error, model, "embedding.model");
}

/** Converts an embedding error to an API error. */
export function embeddingRefusal(error: unknown, model: string, param: string | null = null): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof EmbeddingError && error.code === "model_not_available")
    return new AppError("model_not_available", error.message, { param, cause: error });
  if (error instanceof EmbeddingError || (error instanceof Error && error.name === "TimeoutError"))
    return new AppError("embedding_failed", `${model} could not be asked: ${error.message}`, {
      param,
      cause: error,
      // Only for errors that a retry may resolve.
      ...((!(error instanceof EmbeddingError) || error.retryable) && { retryAfter: 5 }),
    });
  return error;
}

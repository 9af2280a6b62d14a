import { AppError } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { invalid } from "../http/errors.ts";
import type { Payer } from "../models/payer.ts";
import { type Embedder, EmbeddingError } from "../retrieval/embed/embedder.ts";
import { type BuiltInModel, builtInModels, defaultModel, isHere } from "../retrieval/embed/models.ts";
import type { Embedding } from "./schema.ts";

export interface ChosenEmbedding {
  model: string;
  dimensions: number;
}

/** What makes vectors, by the model's name. */
export interface Embedders {
  /** Of these dimensions; null: of as many as the model makes. */
  of(model: string, dimensions: number | null, payer?: Payer): Embedder;
  /** How long the vectors of a model are. */
  probe(model: string, payer?: Payer, signal?: AbortSignal): Promise<number>;
}

export type EmbeddingChooser = ReturnType<typeof createEmbeddingChooser>;

const probe_ms = 20_000;

/** Says what a store is embedded with. Another model than the built-in ones is asked once: a name alone promises nothing. */
export function createEmbeddingChooser({ embedders }: { embedders: Embedders }) {
  async function dimensionsOf({ model, dimensions }: Embedding, payer: Payer): Promise<number> {
    const signal = AbortSignal.timeout(probe_ms);
    if (dimensions === undefined) return await embedders.probe(model, payer, signal);
    await embedders.of(model, dimensions, payer).embed(["Hello"], signal);
    return dimensions;
  }

  return {
    async choose(wanted: Embedding | null, payer: Payer): Promise<ChosenEmbedding> {
      const meant = wanted ?? { model: defaultModel };
      if (isHere(meant.model)) return builtIn(meant);
      const dimensions = await dimensionsOf(meant, payer).catch((error) => {
        throw refusalOf(error, meant.model);
      });
      if (dimensions > limits.embedding_dimensions)
        throw invalid(
          "embedding.model",
          `Its vectors have ${dimensions} dimensions, more than ${limits.embedding_dimensions}.`,
        );
      return { model: meant.model, dimensions };
    },
  };
}

function builtIn({ model, dimensions }: Embedding): ChosenEmbedding {
  const known = builtInModels[model as BuiltInModel].dimensions;
  if (dimensions !== undefined && dimensions !== known)
    throw invalid("embedding.dimensions", `Expected ${known}: ${model} makes no others.`);
  return { model, dimensions: known };
}

function refusalOf(error: unknown, model: string): unknown {
  if (error instanceof EmbeddingError && error.code === "dimensions_mismatch")
    return invalid("embedding.dimensions", error.message);
  return embeddingRefusal(error, model, "embedding.model");
}

/** What a client is told when a text could not be embedded. */
export function embeddingRefusal(error: unknown, model: string, param: string | null = null): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof EmbeddingError && error.code === "model_not_available")
    return new AppError("model_not_available", error.message, { param, cause: error });
  if (error instanceof EmbeddingError || (error instanceof Error && error.name === "TimeoutError"))
    return new AppError("embedding_failed", `${model} could not be asked: ${error.message}`, {
      param,
      cause: error,
      // Where the same may succeed later; of a text that is refused it never does.
      ...((!(error instanceof EmbeddingError) || error.retryable) && { retryAfter: 5 }),
    });
  return error;
}

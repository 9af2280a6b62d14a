import { EmbeddingError } from "../runtime/models/embedding-error.ts";
import type { Embedders } from "../runtime/retrieval/embeddings/embedder.ts";

/**
 * Embedders without a model: each word is a direction of its own, so texts that share words are near each other. Every
 * name is a model of 512 numbers by default, except `none/…`, which is unreachable.
 */
export function wordEmbedders(): Embedders {
  const of: Embedders["of"] = (model, dimensions) => ({
    async embed(texts) {
      if (model.startsWith("none/")) throw new EmbeddingError("model_not_available", `There is no ${model}.`);
      return texts.map((text) => vectorOf(text, dimensions ?? 512));
    },
  });
  return {
    of,
    async probe(model) {
      await of(model, 1).embed([]);
      return 512;
    },
    stop() {},
  };
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [text];
  for (const word of words) vector[Number(Bun.hash(word) % BigInt(dimensions))]! += 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

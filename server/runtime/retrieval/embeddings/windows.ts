import { addScaled, unitVector } from "../../../lib/unit-vector.ts";
import { oneSpelling } from "../vector-search/word-text.ts";
import { unsupportedScripts } from "./unsupported-scripts.ts";

/** A sentence model that reads a limited window. */
interface WindowModel {
  dimensions: number;
  /** Maximum tokens of a window; the model drops the rest. */
  window_tokens: number;
  /** Maximum tokens of one call, in windows of similar length; 0: one window per call. */
  batch_tokens: number;
  /** True if words in scripts that the model cannot read are embedded by hashes. */
  hashes_words: boolean;
  /** Tokenizes a text; returns at least one token. */
  tokensOf(text: string): number[];
  /** Returns the vectors of the windows, concatenated. */
  run(windows: readonly number[][]): Promise<Float32Array>;
}

/** Characters tokenized per token of a window: the time of tokenizers grows with the square of the length. */
const tokenized_chars = 8;

/**
 * Returns a unit vector per text: the mean of its windows weighted by length, combined with hashes for scripts that the
 * model cannot read. At most two windows are read: normal pieces fit; hostile texts have a token per letter.
 */
export function createWindowEmbedder(model: WindowModel) {
  const { dimensions, window_tokens, batch_tokens, hashes_words, tokensOf, run } = model;
  return async (texts: readonly string[]): Promise<Float32Array[]> => {
    const plain = texts.map((text) => ({
      text: oneSpelling(text).slice(0, tokenized_chars * window_tokens),
      sum: new Float32Array(dimensions),
    }));
    const windows = plain.flatMap(({ text, sum }) =>
      windowsOf(tokensOf(text).slice(0, 2 * window_tokens), window_tokens).map((tokens) => ({ sum, tokens })),
    );
    for (const batch of batchesOf(windows, batch_tokens)) {
      const vectors = await run(batch.map(({ tokens }) => tokens));
      for (const [index, { sum, tokens }] of batch.entries())
        addScaled(sum, vectors.subarray(index * dimensions, (index + 1) * dimensions), tokens.length);
    }
    return plain.map(({ text, sum }) => withForeignWords(sum, hashes_words ? text : ""));
  };
}

function windowsOf(tokens: number[], window_tokens: number): number[][] {
  const size = Math.ceil(tokens.length / Math.ceil(tokens.length / window_tokens));
  return Array.from({ length: Math.ceil(tokens.length / size) }, (_, at) => tokens.slice(at * size, (at + 1) * size));
}

/** Groups windows of similar length, because a model pads a batch to its longest window. */
function batchesOf<T extends { tokens: number[] }>(windows: readonly T[], batch_tokens: number): T[][] {
  const batches: T[][] = [];
  for (const window of windows.toSorted((a, b) => b.tokens.length - a.tokens.length)) {
    const last = batches.at(-1);
    const longest = last?.[0]?.tokens.length ?? 0;
    if (last && (last.length + 1) * longest <= batch_tokens) last.push(window);
    else batches.push([window]);
  }
  return batches;
}

function withForeignWords(sum: Float32Array, text: string): Float32Array {
  const known = unitVector(sum);
  if (!known) throw new Error("The embedding model gave no vector.");
  const { share, vector } = unsupportedScripts(text, sum.length);
  const foreign = unitVector(vector);
  if (!foreign) return known;
  return unitVector(known.map((value, index) => (1 - share) * value + share * (foreign[index] ?? 0))) ?? known;
}

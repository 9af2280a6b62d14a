import { unitVector } from "../../lib/unit-vector.ts";
import { oneSpelling } from "../search/word-text.ts";
import { foreignWords } from "./foreign-words.ts";

/** A model of sentences, as far as it takes in at once. */
interface WindowModel {
  dimensions: number;
  /** What is behind so many tokens would be dropped. */
  window_tokens: number;
  /** How many tokens it takes in at one call, in windows of like length; 0: one window a call. */
  batch_tokens: number;
  /** Whether words that it does not know are told apart by hashes: of languages that the model cannot read. */
  hashes_words: boolean;
  /** Of a text that has none, too: at least one. */
  tokensOf(text: string): number[];
  /** A vector for each window, one after the other in one list. */
  run(windows: readonly number[][]): Promise<Float32Array>;
}

/** What is read of a text for each token of a window: the tokenizers' time grows with the square of a text's length. */
const tokenized_chars = 8;

/**
 * A unit vector for each text: the mean of its windows, each by its length; of what the model cannot read, by hashes.
 * Of one text two windows are read. Ordinary ones of the size that callers give are below; hostile ones have a token a
 * letter.
 */
export function byWindows(model: WindowModel) {
  const { dimensions, window_tokens, batch_tokens, hashes_words, tokensOf, run } = model;
  return async (texts: readonly string[]): Promise<Float32Array[]> => {
    const plain = texts.map((text) => oneSpelling(text).slice(0, tokenized_chars * window_tokens));
    const windows = plain.flatMap((text, of) =>
      windowsOf(tokensOf(text).slice(0, 2 * window_tokens), window_tokens).map((tokens) => ({ of, tokens })),
    );
    const sums = plain.map(() => new Float32Array(dimensions));
    for (const batch of batchesOf(windows, batch_tokens)) {
      const vectors = await run(batch.map(({ tokens }) => tokens));
      batch.forEach(({ of, tokens }, index) => {
        addTo(sums[of]!, vectors.subarray(index * dimensions, (index + 1) * dimensions), tokens.length);
      });
    }
    return sums.map((sum, index) => withForeignWords(sum, hashes_words ? plain[index]! : ""));
  };
}

function windowsOf(tokens: number[], window_tokens: number): number[][] {
  const size = Math.ceil(tokens.length / Math.ceil(tokens.length / window_tokens));
  return Array.from({ length: Math.ceil(tokens.length / size) }, (_, at) => tokens.slice(at * size, (at + 1) * size));
}

/** Groups of like length, since a model fills all of a group up to its longest. */
function batchesOf<T extends { tokens: number[] }>(windows: readonly T[], batch_tokens: number): T[][] {
  const batches: T[][] = [];
  for (const window of windows.toSorted((a, b) => b.tokens.length - a.tokens.length)) {
    const last = batches.at(-1);
    if (last && (last.length + 1) * last[0]!.tokens.length <= batch_tokens) last.push(window);
    else batches.push([window]);
  }
  return batches;
}

function addTo(sum: Float32Array, vector: Float32Array, weight: number): void {
  for (let index = 0; index < sum.length; index++) sum[index]! += vector[index]! * weight;
}

function withForeignWords(sum: Float32Array, text: string): Float32Array {
  const known = unitVector(sum);
  if (!known) throw new Error("The embedding model gave no vector.");
  const { share, vector } = foreignWords(text, sum.length);
  const foreign = unitVector(vector);
  if (!foreign) return known;
  return unitVector(known.map((value, index) => (1 - share) * value + share * foreign[index]!)) ?? known;
}

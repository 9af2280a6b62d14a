import type { Match } from "../../runtime/retrieval/vector-search/searcher.ts";

/** A passage with its vector, or null. */
type Compared = Match & { vector?: Float32Array | null };

/** Selects passages by maximal marginal relevance. `diversity`: weight of similarity, from 0 (none) to 1 (only). */
export function maximalMarginalRelevance<Passage extends Compared>(
  passages: readonly Passage[],
  count: number,
  diversity: number,
): Passage[] {
  const left = passages.map((passage) => ({ passage, unit: passage.vector ? unit(passage.vector) : null, likest: 0 }));
  const chosen: Passage[] = [];
  const worth = ({ passage, likest }: (typeof left)[number]) => (1 - diversity) * passage.score - diversity * likest;
  while (chosen.length < count) {
    const [first] = left;
    if (!first) break;
    const one = left.reduce((best, each) => (worth(each) > worth(best) ? each : best), first);
    left.splice(left.indexOf(one), 1);
    chosen.push(one.passage);
    for (const other of left) {
      const isSame = other.passage.text === one.passage.text;
      other.likest = Math.max(other.likest, isSame ? 1 : likeness(one.unit, other.unit));
    }
  }
  return chosen;
}

/** Normalizes to length 1, so that a dot product is the cosine. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / (length || 1));
}

/** Cosine of two vectors, at least 0. */
function likeness(a: Float32Array | null, b: Float32Array | null): number {
  if (!a || !b) return 0;
  let product = 0;
  for (let index = 0; index < a.length; index++) product += (a[index] ?? 0) * (b[index] ?? 0);
  return Math.min(1, Math.max(0, product));
}

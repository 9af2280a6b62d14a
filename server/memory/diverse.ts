import type { Match } from "../retrieval/search/searcher.ts";

/** A passage with its vector; null where it has none. */
type Compared = Match & { vector?: Float32Array | null };

/**
 * Some of the passages, each chosen for its score less its likeness to those before it (maximal marginal relevance).
 * `diversity`: what that likeness weighs, from 0 (nothing) to 1 (nothing else does).
 */
export function diverse<Passage extends Compared>(
  passages: readonly Passage[],
  count: number,
  diversity: number,
): Passage[] {
  const left = passages.map((passage) => ({ passage, likest: 0 }));
  const chosen: Passage[] = [];
  const worth = ({ passage, likest }: (typeof left)[number]) => (1 - diversity) * passage.score - diversity * likest;
  while (chosen.length < count && left.length > 0) {
    const best = left.reduce((best, one, index) => (worth(one) > worth(left[best]!) ? index : best), 0);
    const [{ passage }] = left.splice(best, 1) as [(typeof left)[number]];
    chosen.push(passage);
    for (const other of left) other.likest = Math.max(other.likest, likeness(passage, other.passage));
  }
  return chosen;
}

/** The cosine of their vectors, where it is above 0. */
function likeness({ vector: a, text: one }: Compared, { vector: b, text: other }: Compared): number {
  if (one === other) return 1;
  if (!a || !b) return 0;
  let [product, first, second] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index]!, b[index]!];
    product += x * y;
    first += x * x;
    second += y * y;
  }
  return Math.min(1, Math.max(0, product / Math.sqrt(first * second || 1)));
}

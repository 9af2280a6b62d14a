/** Parts of a model that a search looks into. */
interface Named {
  id: string;
  name?: string | null;
}

/**
 * Returns the models with all words of a query in any part of their names, in their order. If there are none, a word
 * may have one wrong, missing or extra letter, or two from eight letters on.
 */
export function findModels<Model extends Named>(models: readonly Model[], query: string): Model[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...models];
  const texts = models.map(({ id, name }) => `${id} ${name ?? ""}`.toLowerCase());
  const exact = models.filter((_, index) => words.every((word) => texts[index]?.includes(word)));
  if (exact.length > 0) return exact;
  return models.filter((_, index) => {
    const parts = texts[index]?.split(/[\s/:_.-]+/) ?? [];
    return words.every((word) => texts[index]?.includes(word) || isNearAny(word, parts));
  });
}

function isNearAny(word: string, parts: readonly string[]): boolean {
  const typos = word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0;
  // The first part counts too if it continues: `claud` is near `claude-opus`.
  return (
    typos > 0 && parts.some((part) => isWithin(word, part, typos) || isWithin(word, part.slice(0, word.length), typos))
  );
}

/** True if at most `most` letters must be replaced, inserted, deleted or swapped with the next one. */
function isWithin(a: string, b: string, most: number): boolean {
  if (Math.abs(a.length - b.length) > most) return false;
  let [before, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    if (Math.min(...next) > most) return false;
    [before, row] = [row, next];
  }
  return (row[b.length] ?? 0) <= most;
}

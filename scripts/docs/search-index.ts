/** Searchable content of a page: title, headings and words. */
export interface SearchablePage {
  path: string;
  title: string;
  headings: string[];
  text: string;
}

/**
 * Returns the search index: the pages, and for each word the pages that contain it. A line is a word and its postings:
 * the distance to the previous page, with `x` and the number of occurrences if there are several, at most five.
 */
export function searchIndexOf(pages: readonly SearchablePage[]): string {
  const places = new Map<string, [page: number, count: number][]>();
  for (const [number, { text }] of pages.entries())
    for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
      const its = places.get(word) ?? [];
      places.set(word, its);
      const last = its.at(-1);
      if (last?.[0] === number) last[1]++;
      else its.push([number, 1]);
    }
  const lines = [...places].map(([word, its]) => {
    const steps = its.map(([page, count], at) => {
      const step = page - (its[at - 1]?.[0] ?? -1);
      return count === 1 ? `${step}` : `${step}x${Math.min(count, 5)}`;
    });
    return `${word} ${steps.join(".")}`;
  });
  return JSON.stringify({
    pages: pages.map(({ path, title, headings }) => ({ path, title, headings })),
    words: lines.sort().join("\n"),
  });
}

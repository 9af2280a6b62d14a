/** Words of a query in lower case. */
export const queryWords = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

/** True if a text contains all words of a query, regardless of case. All list searches use it. */
export function matchesQuery(text: string, sought: string): boolean {
  const lower = text.toLowerCase();
  return queryWords(sought).every((word) => lower.includes(word));
}

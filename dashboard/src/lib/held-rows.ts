/** The rows up to the one that was the newest when somebody began to scroll, and how many came above it since. */
export function heldRows<T extends { id: string }>(
  rows: readonly T[] | undefined,
  newest: string | null,
): { shown: readonly T[] | undefined; held: number } {
  if (!rows || newest === null) return { shown: rows, held: 0 };
  const shown = rows.filter(({ id }) => id <= newest); // Ids sort by the time at which they were made.
  // All of the page are newer: there is nothing left to hold still.
  if (shown.length === 0) return { shown: rows, held: 0 };
  return { shown, held: rows.length - shown.length };
}

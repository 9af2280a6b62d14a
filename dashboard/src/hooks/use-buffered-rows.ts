import { type UIEvent, useState } from "react";

/** Scroll offset that still counts as the top. */
const top_px = 8;

/**
 * Holds back new rows of a polled list, newest first, while it is scrolled. `list` identifies the list; another one
 * starts fresh.
 */
export function useBufferedRows<T extends { id: string }>(rows: readonly T[] | undefined, list: string) {
  const [top, setTop] = useState<{ list: string; id: string } | null>(null);
  const newest = rows?.[0]?.id;
  const onScroll = ({ currentTarget: { scrollTop } }: UIEvent) => {
    if (scrollTop <= top_px) setTop(null);
    else if (newest && top?.list !== list) setTop({ list, id: newest });
  };
  const { shown, held } = bufferedRows(rows, top?.list === list ? top.id : null);
  return { shown, held, onScroll, showAll: () => setTop(null) };
}

/** Returns the rows up to the one that was newest when scrolling started, and the number of rows above it. */
export function bufferedRows<T extends { id: string }>(
  rows: readonly T[] | undefined,
  newest: string | null,
): { shown: readonly T[] | undefined; held: number } {
  if (!rows || newest === null) return { shown: rows, held: 0 };
  const shown = rows.filter(({ id }) => id <= newest); // Ids sort by creation time.
  // All rows are newer: there is no position to keep.
  if (shown.length === 0) return { shown: rows, held: 0 };
  return { shown, held: rows.length - shown.length };
}

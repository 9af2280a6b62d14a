import { type UIEvent, useState } from "react";

/** Below this one still stands at the top. */
const top_px = 8;

/**
 * A list that is read again and again, the newest first: while it is scrolled, nothing is put above what somebody
 * reads. `list` names what is listed; another list holds nothing back.
 */
export function useHeldRows<T extends { id: string }>(rows: readonly T[] | undefined, list: string) {
  const [top, setTop] = useState<{ list: string; id: string } | null>(null);
  const newest = rows?.[0]?.id;
  const onScroll = ({ currentTarget: { scrollTop } }: UIEvent) => {
    if (scrollTop <= top_px) setTop(null);
    else if (newest && top?.list !== list) setTop({ list, id: newest });
  };
  const { shown, held } = heldRows(rows, top?.list === list ? top.id : null);
  return { shown, held, onScroll, showAll: () => setTop(null) };
}

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

import { type UIEvent, useState } from "react";
import { heldRows } from "./held-rows.ts";

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

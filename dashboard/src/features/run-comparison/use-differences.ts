import { type RefObject, useEffect, useRef, useState } from "react";
import { useKeys } from "../../hooks/use-keys.ts";

/** Jumps to the next or previous difference (`n`, `p`). Loads more pages after the last one. */
export function useDifferences(
  list: RefObject<HTMLElement | null>,
  { hasMore, more }: { hasMore: boolean; more: () => Promise<unknown> },
): (by: 1 | -1) => void {
  const at = useRef(-1);
  const [wanted, setWanted] = useState(false);
  const show = (rows: readonly HTMLElement[], index: number) => {
    at.current = index;
    rows[index]?.focus({ preventScroll: true });
    rows[index]?.scrollIntoView({ block: "center" });
  };
  const rowsOf = () => [...(list.current?.querySelectorAll<HTMLElement>("[data-difference]") ?? [])];
  const go = (by: 1 | -1) => {
    const rows = rowsOf();
    const active = rows.findIndex((row) => row.contains(document.activeElement));
    const next = (active === -1 ? (by === 1 ? at.current : Math.max(at.current, 0)) : active) + by;
    if (next >= rows.length && hasMore) setWanted(true);
    else if (rows.length > 0) show(rows, (next + rows.length) % rows.length);
  };
  // A page may have no difference: load pages until one has, or the end.
  useEffect(() => {
    if (!wanted) return;
    const rows = rowsOf();
    if (at.current + 1 < rows.length || !hasMore) {
      setWanted(false);
      if (rows.length > 0) show(rows, (at.current + 1) % rows.length);
    } else void more();
  });
  useKeys({ n: () => go(1), p: () => go(-1) });
  return go;
}

import type { RefObject } from "react";
import { useKeys } from "./use-keys.ts";

/** `j` and `k` go to the next and the previous `[data-row]` of a list; Enter does what the row does. */
export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  const go = (step: 1 | -1) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const active = document.activeElement;
    const at = rows.findIndex((row) => row === active || row.closest("tr, li")?.contains(active));
    rows[Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
  };
  useKeys({ j: () => go(1), k: () => go(-1) });
}

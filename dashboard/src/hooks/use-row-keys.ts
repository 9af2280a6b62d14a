import { type RefObject, useEffect } from "react";
import { useKeys } from "./use-keys.ts";

/**
 * `j` and `k` move between the `[data-row]` elements of a list; Enter opens one. If the focused element disappears, its
 * row gets the focus; if the row was deleted, the next one does.
 */
export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  const go = (step: 1 | -1) => {
    const rows = rowsOf(list.current);
    focusAt(rows, rows.findIndex(holds(document.activeElement)) + step);
  };
  useKeys({ j: () => go(1), k: () => go(-1) });
  useFocusNextRow(list);
}

function useFocusNextRow(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    let last: { target: Element; row: HTMLElement; at: number } | null = null;
    const remember = ({ target }: FocusEvent) => {
      const rows = rowsOf(element);
      const at = rows.findIndex(holds(target as Element));
      if (rows[at]) last = { target: target as Element, row: rows[at], at };
    };
    const observer = new MutationObserver(() => {
      if (!last || last.target.isConnected) return;
      const { row, at } = last;
      last = null;
      // Do not take the focus from a dialog, a filter or another page.
      if (document.activeElement !== document.body) return;
      if (row.isConnected) row.focus();
      else focusAt(rowsOf(element), at);
    });
    element.addEventListener("focusin", remember);
    observer.observe(element, { childList: true, subtree: true });
    return () => {
      element.removeEventListener("focusin", remember);
      observer.disconnect();
    };
  }, [list]);
}

const rowsOf = (list: HTMLElement | null) => [...(list?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];

const holds = (element: Element | null) => (row: HTMLElement) =>
  row === element || row.closest("tr, li")?.contains(element) === true;

const focusAt = (rows: readonly HTMLElement[], at: number) => rows[Math.min(Math.max(at, 0), rows.length - 1)]?.focus();

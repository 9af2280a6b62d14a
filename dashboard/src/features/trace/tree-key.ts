import type { Row } from "./row.ts";

/** Action of a key in the tree: select a row, expand or collapse one, or move on to the details. */
type TreeAct =
  | { to: number; open?: undefined; enter?: undefined }
  | { open: boolean; enter?: undefined }
  | { enter: true; open?: undefined };

const pageRows = 15;

/** Returns the action of a key at a row; null for other keys. */
export function treeKey(key: string, rows: readonly Row[], index: number): TreeAct | null {
  const row = rows[index];
  if (!row) return null;
  const last = rows.length - 1;
  const to = (wanted: number): TreeAct => ({ to: Math.min(Math.max(wanted, 0), last) });
  switch (key) {
    case "ArrowDown":
      return to(index + 1);
    case "ArrowUp":
      return to(index - 1);
    case "PageDown":
      return to(index + pageRows);
    case "PageUp":
      return to(index - pageRows);
    case "Home":
      return to(0);
    case "End":
      return to(last);
    case "ArrowLeft":
      return row.open ? { open: false } : to(rows.findIndex(({ key }) => key === row.parent));
    case "ArrowRight":
      if (row.opens && !row.open) return { open: true };
      return to(row.open ? index + 1 : index);
    case "Enter":
      return { enter: true };
    default:
      return null;
  }
}

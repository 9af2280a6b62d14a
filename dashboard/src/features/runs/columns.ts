import { useMemo } from "react";
import { usePreferenceText } from "../../lib/local-storage.ts";

/** Optional columns of a row. */
export const columns = ["calls", "model", "user", "duration", "tokens", "cost", "started"] as const;
export type Column = (typeof columns)[number];

export const columnLabels: Record<Column, string> = {
  calls: "Calls",
  model: "Model",
  user: "User",
  duration: "Duration",
  tokens: "Tokens",
  cost: "Cost",
  started: "Started",
};

const atFirst = "calls duration tokens cost started";

/**
 * Visible columns in this browser and a toggle. Columns a person chose never disappear on narrow pages; only the
 * default ones do.
 */
export function useColumns(): { shown: ReadonlySet<Column>; folds: boolean; toggle: (column: Column) => void } {
  const [text, setText] = usePreferenceText("runs.columns", atFirst);
  const shown = useMemo(() => new Set(columns.filter((column) => text.split(" ").includes(column))), [text]);
  const toggle = (column: Column) => setText(columns.filter((each) => shown.has(each) !== (each === column)).join(" "));
  return { shown, folds: text === atFirst, toggle };
}

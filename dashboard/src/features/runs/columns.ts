import { useMemo } from "react";
import { usePreferenceText } from "../../lib/preference.ts";

/** What a row can say beside its status and its text. */
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
 * The columns that are shown in this browser, and how one is shown or hidden. Nothing that somebody chose goes without a
 * word: only of those that nobody chose some fold where the page is narrow.
 */
export function useColumns(): { shown: ReadonlySet<Column>; folds: boolean; toggle: (column: Column) => void } {
  const [text, setText] = usePreferenceText("runs.columns", atFirst);
  const shown = useMemo(() => new Set(columns.filter((column) => text.split(" ").includes(column))), [text]);
  const toggle = (column: Column) => setText(columns.filter((each) => shown.has(each) !== (each === column)).join(" "));
  return { shown, folds: text === atFirst, toggle };
}

import type { SQLQueryBindings } from "bun:sqlite";

/** An SQL condition. */
export interface Condition {
  sql: string;
  values: SQLQueryBindings[];
}

/** Narrows a list to a window of candidate rows after `after`, up to and including `until`; null: to the end. */
export type RowFilter = (after: string | null, descending: boolean) => Promise<Condition & { until: string | null }>;

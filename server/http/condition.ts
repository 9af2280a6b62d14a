import type { SQLQueryBindings } from "bun:sqlite";

/** What rows fulfil. */
export interface Condition {
  sql: string;
  values: SQLQueryBindings[];
}

/** Some of the rows that may be meant, in their order from a place on: up to `until`, that one included; null: all the rest. */
export type Narrow = (after: string | null, descending: boolean) => Promise<Condition & { until: string | null }>;

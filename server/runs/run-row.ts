import type { runs } from "../storage/db/schema.ts";

export const rowColumns = [
  ...(["id", "project_id", "environment", "agent_id", "status", "seq", "attempt"] as const),
  ...(["created_at_ms", "worked_ms", "status_since_ms", "expires_at_ms", "summary"] as const),
];

/** Column list for SQL statements. */
export const runColumns = rowColumns.join(", ");

/** Columns for lists and timing. `summary` is the run as JSON once its trace was deleted. */
export type RunRow = Pick<typeof runs.$inferSelect, (typeof rowColumns)[number]>;

import type { Database } from "bun:sqlite";

/** Returns a named value of this database, or null if it is not set. */
export const getMetadata = (sqlite: Database, name: string): string | null =>
  sqlite.query<{ value: string }, [string]>("SELECT value FROM facts WHERE name = ?").get(name)?.value ?? null;

export const setMetadata = (sqlite: Database, name: string, value: string): void =>
  void sqlite.query("INSERT OR REPLACE INTO facts (name, value) VALUES ($name, $value)").run({ name, value });

import type { Database } from "bun:sqlite";

/** A named value about this database; null where it is not set. */
export const readFact = (sqlite: Database, name: string): string | null =>
  sqlite.query<{ value: string }, [string]>("SELECT value FROM facts WHERE name = ?").get(name)?.value ?? null;

export const noteFact = (sqlite: Database, name: string, value: string): void =>
  void sqlite.query("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)").run(name, value);

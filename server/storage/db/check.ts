import type { Database } from "bun:sqlite";
import { isCorrupt } from "./corruption.ts";

const maxFaults = 10;

/**
 * Returns SQLite's descriptions of a database's faults; empty if it is intact. `quick` reads every page, about 1 ms per
 * megabyte, but does not compare tables with their indexes and foreign keys.
 */
export function faultsOf(sqlite: Database, depth: "quick" | "full"): string[] {
  try {
    const messages = sqlite
      .query<Record<string, string>, []>(
        `PRAGMA ${depth === "quick" ? "quick_check" : "integrity_check"}(${maxFaults})`,
      )
      .all()
      .flatMap((row) => Object.values(row));
    const faults = messages.length === 1 && messages[0] === "ok" ? [] : messages;
    return depth === "full" && faults.length === 0 ? danglingReferences(sqlite) : faults;
  } catch (error) {
    if (isCorrupt(error)) return [(error as Error).message];
    throw error;
  }
}

function danglingReferences(sqlite: Database): string[] {
  const dangling = sqlite.query("PRAGMA foreign_key_check").all().length;
  return dangling === 0 ? [] : [`${dangling} references lead nowhere`];
}

import type { Database } from "bun:sqlite";
import { isDamage } from "./damage.ts";

const most = 10;

/**
 * What is wrong with a database, in SQLite's words; nothing when it is whole. `quick` reads every page and leaves out
 * to compare tables with their indexes and references: about a millisecond per megabyte.
 */
export function faultsOf(sqlite: Database, depth: "quick" | "full"): string[] {
  try {
    const said = sqlite
      .query<Record<string, string>, []>(`PRAGMA ${depth === "quick" ? "quick_check" : "integrity_check"}(${most})`)
      .all()
      .map((row) => Object.values(row)[0]!);
    const faults = said.length === 1 && said[0] === "ok" ? [] : said;
    return depth === "full" && faults.length === 0 ? danglingReferences(sqlite) : faults;
  } catch (error) {
    if (isDamage(error)) return [(error as Error).message];
    throw error;
  }
}

function danglingReferences(sqlite: Database): string[] {
  const dangling = sqlite.query("PRAGMA foreign_key_check").all().length;
  return dangling === 0 ? [] : [`${dangling} references lead nowhere`];
}

import type { Database } from "bun:sqlite";
import { timeOf } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { IndexTexts } from "./index-text.ts";
import { indexText } from "./query.ts";

const perMillisecond = 1024;
// Clamp: ids of a clock centuries ahead would exceed safe integers and could not be incremented.
const latest_ms = Math.floor(Number.MAX_SAFE_INTEGER / perMillisecond) - 1_000_000;
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** Sort key of a document: the millisecond of its id, then the id's last digits, which count up within it. */
export function numberOf(id: string): number {
  const [tens = 0, ones = 0] = [...id.slice(-2)].map((digit) => digits.indexOf(digit));
  return Math.min(timeOf(id), latest_ms) * perMillisecond + tens * digits.length + ones;
}

/** Sort position of a document, computed from its id if the document is gone. */
export function createPlaceOf(sqlite: Database) {
  const selectNumber = sqlite.query<{ number: number }, [string, string, string]>(
    "SELECT number FROM search_documents WHERE project_id = ? AND environment = ? AND id = ?",
  );
  return ({ project_id, environment }: Scope, id: string): number =>
    selectNumber.get(project_id, environment, id)?.number ?? numberOf(id);
}

/** Writes the documents of the index. Call inside a write. */
export function createDocuments(sqlite: Database) {
  const insert = sqlite.query(
    `INSERT INTO search_documents (number, project_id, environment, type, id, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const selectLast = sqlite.query<{ number: number }, [number, number]>(
    "SELECT max(number) AS number FROM search_documents WHERE number >= ? AND number < ?",
  );
  const insertWords = sqlite.query("INSERT INTO search_words (rowid, place, title, text) VALUES (?, ?, ?, ?)");
  const isThere = sqlite.query("SELECT 1 FROM search_documents WHERE project_id = ? AND environment = ? AND id = ?");
  const removal = sqlite.query("DELETE FROM search_documents WHERE project_id = ? AND environment = ? AND id = ?");

  // Check first: even deleting nothing fires the trigger, which makes FTS5 flush its pending terms.
  function remove({ project_id, environment }: Scope, id: string): void {
    if (isThere.get(project_id, environment, id)) removal.run(project_id, environment, id);
  }

  /** First free number after the last one of this millisecond, for when more ids than usual were made in it. */
  function nextFree(number: number): number {
    const end = (Math.floor(number / perMillisecond) + 1) * perMillisecond;
    return onlyRow(selectLast.get(number, end)).number + 1;
  }

  return {
    remove,
    /** Inserts or replaces a document. */
    put(
      of: Scope & { id: string; created_at_ms: number },
      type: string,
      place: string,
      { title, text }: IndexTexts,
    ): void {
      const { project_id, environment, id, created_at_ms } = of;
      const insertAt = (number: number): boolean =>
        insert.run(number, project_id, environment, type, id, created_at_ms).changes > 0;
      let number = numberOf(id);
      // Usually the document is new and its number is free.
      if (!insertAt(number)) {
        remove(of, id);
        while (!insertAt(number)) number = nextFree(number);
      }
      insertWords.run(number, place, indexText(title), indexText(text));
    },
  };
}

export type Documents = ReturnType<typeof createDocuments>;

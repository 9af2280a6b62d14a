import type { Database } from "bun:sqlite";
import { timeOf } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import { indexText } from "./query.ts";
import type { Texts } from "./texts.ts";

const perMillisecond = 1024;
// A clock that is centuries ahead makes ids whose numbers would not be whole any more, and could not be counted up.
const latest_ms = Math.floor(Number.MAX_SAFE_INTEGER / perMillisecond) - 1_000_000;
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** By what documents are sorted: the millisecond of their id, and in it the end of the id, which counts up there. */
export function numberOf(id: string): number {
  const [tens = 0, ones = 0] = [...id.slice(-2)].map((digit) => digits.indexOf(digit));
  return Math.min(timeOf(id), latest_ms) * perMillisecond + tens * digits.length + ones;
}

/** Where a document stands, or would, since it may be gone by now. */
export function createPlaceOf(sqlite: Database) {
  const selectNumber = sqlite.query<{ number: number }, [string, string, string]>(
    "SELECT number FROM search_documents WHERE project_id = ? AND environment = ? AND id = ?",
  );
  return ({ project_id, environment }: Scope, id: string): number =>
    selectNumber.get(project_id, environment, id)?.number ?? numberOf(id);
}

/** The documents of the index, within writes. */
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

  // To delete nothing is not for nothing: the trigger makes FTS5 write what it has gathered.
  function remove({ project_id, environment }: Scope, id: string): void {
    if (isThere.get(project_id, environment, id)) removal.run(project_id, environment, id);
  }

  /** Behind the last one of this millisecond, which more ids than usual have been made in. */
  function nextFree(number: number): number {
    const end = (Math.floor(number / perMillisecond) + 1) * perMillisecond;
    return selectLast.get(number, end)!.number + 1;
  }

  return {
    remove,
    /** Puts a document there, in place of what was there of it. */
    put(of: Scope & { id: string; created_at_ms: number }, type: string, place: string, { title, text }: Texts): void {
      const { project_id, environment, id, created_at_ms } = of;
      const insertAt = (number: number): boolean =>
        insert.run(number, project_id, environment, type, id, created_at_ms).changes > 0;
      let number = numberOf(id);
      // Mostly there is nothing of it yet, and its place is free.
      if (!insertAt(number)) {
        remove(of, id);
        while (!insertAt(number)) number = nextFree(number);
      }
      insertWords.run(number, place, indexText(title), indexText(text));
    },
  };
}

export type Documents = ReturnType<typeof createDocuments>;

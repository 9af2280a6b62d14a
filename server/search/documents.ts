import type { Database } from "bun:sqlite";
import { timeOf } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import { searchText } from "./query.ts";
import type { Texts } from "./texts.ts";

const perMillisecond = 1024;
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** By what documents are sorted: like their ids, as far as a number can say. */
export function numberOf(id: string): number {
  const [tens = 0, ones = 0] = [...id.slice(id.indexOf("_") + 11)].map((digit) => digits.indexOf(digit));
  return timeOf(id) * perMillisecond + tens * digits.length + ones;
}

/** The documents of the index, within writes. */
export function createDocuments(sqlite: Database) {
  const insert = sqlite.query(
    `INSERT INTO search_documents (number, project_id, environment, type, id, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (number) DO NOTHING`,
  );
  const insertWords = sqlite.query("INSERT INTO search_words (rowid, place, title, text) VALUES (?, ?, ?, ?)");
  const removal = sqlite.query("DELETE FROM search_documents WHERE project_id = ? AND environment = ? AND id = ?");

  const remove = ({ project_id, environment }: Scope, id: string): void =>
    void removal.run(project_id, environment, id);

  return {
    remove,
    /** Puts a document there, in place of what was there of it. */
    put(of: Scope & { id: string; created_at_ms: number }, type: string, place: string, { title, text }: Texts): void {
      const { project_id, environment, id, created_at_ms } = of;
      remove(of, id);
      let number = numberOf(id);
      // Ids of one moment may begin alike.
      while (insert.run(number, project_id, environment, type, id, created_at_ms).changes === 0) number++;
      insertWords.run(number, place, searchText(title), searchText(text));
    },
  };
}

export type Documents = ReturnType<typeof createDocuments>;

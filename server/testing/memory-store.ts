import type { Database } from "bun:sqlite";
import type { SearchOrder } from "../runtime/retrieval/vector-search/searcher.ts";
import {
  addVectors,
  addWords,
  createStoreTables,
  type StoreTables,
} from "../runtime/retrieval/vector-search/tables.ts";

/** Entry of one chunk, as a test inserts it into a store. */
interface StoredPassage {
  text?: string;
  vector: Float32Array;
  scope_id?: string;
  metadata?: Record<string, string | number | boolean>;
  expires_at_ms?: number | null;
}

const owner = { project_id: "proj_search", environment: "live" };

/** Vector store in the database, without the rest of a server. */
export function createMemoryStore(sqlite: Database, tables: StoreTables) {
  const id = `mem_${tables.number}`;
  // Projects are out of scope here.
  sqlite.run("PRAGMA foreign_keys = OFF");
  sqlite.run(
    `INSERT INTO memory_stores (project_id, environment, id, number, name, kind, scope, model, dimensions, generation,
      metadata, created_at_ms, updated_at_ms) VALUES (?, ?, ?, ?, ?, 'vector', 'project', 'm', ?, ?, '{}', 0, 0)`,
    [owner.project_id, owner.environment, id, tables.number, id, tables.dimensions, tables.generation],
  );
  createStoreTables(sqlite, tables);
  const entry = sqlite.prepare<unknown, (string | number | null)[]>(
    `INSERT INTO memory_entries (project_id, environment, id, memory_id, scope_id, text, chunking, metadata, status,
      created_at_ms, updated_at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?, '{}', ?, 'ready', 0, 0, ?)`,
  );
  const chunk = sqlite.prepare<{ number: number }, (string | number | null)[]>(
    `INSERT INTO memory_chunks (project_id, environment, entry_id, store, chunk_index, text, tokens, generation)
      VALUES (?, ?, ?, ?, 0, ?, 1, ?) RETURNING number`,
  );
  let entries = 0;

  const add = sqlite.transaction((passages: readonly StoredPassage[]): number[] => {
    const rows = passages.map((passage) => {
      const entryId = `ment_${tables.number}_${++entries}`;
      const { text = "", scope_id = "", metadata = {}, expires_at_ms = null } = passage;
      const key = [owner.project_id, owner.environment, entryId];
      entry.run(...key, id, scope_id, text, JSON.stringify(metadata), expires_at_ms);
      const { number } = chunk.get(...key, tables.number, text, tables.generation)!;
      return { number, text, vector: passage.vector };
    });
    addVectors(sqlite, tables, rows);
    addWords(sqlite, tables.number, rows);
    return rows.map(({ number }) => number);
  });

  return {
    tables,
    add,
    /** Marks the entry of a chunk as deleted, as a server does before it removes the content. */
    markDeleted: (number: number) =>
      sqlite.run(
        "UPDATE memory_entries SET deleted_at_ms = 1 WHERE id = (SELECT entry_id FROM memory_chunks WHERE number = ?)",
        [number],
      ),
    close() {
      entry.finalize();
      chunk.finalize();
    },
  };
}

/** Returns a search for the nearest vectors, with these overrides. */
export const searchOrder = (store: StoreTables, order: Partial<SearchOrder>): SearchOrder => ({
  owner: "p:test",
  store,
  scope_id: "",
  query: "",
  vector: null,
  mode: "vector",
  top_k: 10,
  filter: null,
  score_threshold: null,
  now: 0,
  ...order,
});

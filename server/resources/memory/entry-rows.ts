import { newId } from "../../domain/ids.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import type { Db } from "../../storage/db/open.ts";
import { memoryEntries } from "../../storage/db/schema.ts";
import { columnsOf, createScopedTable } from "../../storage/db/scoped-table.ts";
import type { EntryRow, VectorStoreRow } from "./row.ts";

/** A text about a user, in its latest version. */
export interface Fact {
  id: string;
  text: string;
}

/** An entry with its file's name, if it has a file. */
type NamedEntry = EntryRow & { filename: string | null };

export type NewEntryRow = Pick<
  EntryRow,
  "file_id" | "text" | "chunking" | "metadata" | "tool_call_id" | "expires_at_ms"
>;

/** Condition of an entry that is visible at this time. */
export const isAliveSql = "deleted_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?)";

/** Rows of entries. Deleted and expired ones are hidden. */
export function createEntryRows(db: Db, now: () => number) {
  const { sqlite } = db;
  const rows = createScopedTable(db, memoryEntries);
  const selectOne = sqlite.query<NamedEntry, [string, Environment, string, string, number]>(
    `SELECT ${columnsOf(memoryEntries, "e")}, f.filename FROM memory_entries e
     LEFT JOIN files f ON f.project_id = e.project_id AND f.environment = e.environment AND f.id = e.file_id
     WHERE e.project_id = ? AND e.environment = ? AND e.memory_id = ? AND e.id = ?
       AND e.deleted_at_ms IS NULL AND (e.expires_at_ms IS NULL OR e.expires_at_ms > ?)`,
  );
  const selectOfCall = sqlite.query<EntryRow, [string, Environment, string]>(
    `SELECT ${columnsOf(memoryEntries)} FROM memory_entries WHERE project_id = ? AND environment = ? AND tool_call_id = ?`,
  );
  const selectOfFile = sqlite.query<EntryRow, [string, Environment, string, number]>(
    `SELECT ${columnsOf(memoryEntries)} FROM memory_entries WHERE project_id = ? AND environment = ? AND file_id = ?
       AND ${isAliveSql} ORDER BY id`,
  );
  const selectTexts = sqlite.query<Fact, [string, Environment, string, string, number, number]>(
    `SELECT id, text FROM memory_entries WHERE project_id = ? AND environment = ? AND memory_id = ? AND scope_id = ?
       AND text IS NOT NULL AND ${isAliveSql} ORDER BY id DESC LIMIT ?`,
  );
  // CROSS fixes the join order: from the few stores of that scope, each by its index.
  const selectOfSubjects = sqlite.query<EntryRow, [string, Environment, string, string, number]>(
    `SELECT ${columnsOf(memoryEntries, "e")} FROM memory_stores s CROSS JOIN json_each(?4) o CROSS JOIN memory_entries e
       ON e.project_id = s.project_id AND e.environment = s.environment AND e.memory_id = s.id AND e.scope_id = o.value
     WHERE s.project_id = ?1 AND s.environment = ?2 AND s.scope = ?3 AND s.deleted_at_ms IS NULL
       AND e.deleted_at_ms IS NULL LIMIT ?5`,
  );
  const countOf = (status: "processing" | "failed") =>
    sqlite.query<{ n: number }, [string, Environment, string]>(
      `SELECT count(*) AS n FROM memory_entries WHERE project_id = ? AND environment = ? AND memory_id = ?
         AND status = '${status}' AND deleted_at_ms IS NULL`, // A literal, to match the partial index.
    );
  const [processing, failed] = [countOf("processing"), countOf("failed")];
  const deletion = sqlite.query(
    `UPDATE memory_entries SET deleted_at_ms = ? WHERE project_id = ? AND environment = ? AND id = ?
       AND deleted_at_ms IS NULL`,
  );
  // A chunk never changes: when an entry changes, its chunks move to a deleted entry, and new ones are made.
  const detaching = sqlite.query(
    "UPDATE memory_chunks SET entry_id = ? WHERE project_id = ? AND environment = ? AND entry_id = ?",
  );
  const changing = sqlite.query(
    `UPDATE memory_entries SET text = ?, metadata = ?, status = 'processing', error = NULL, processed = 0, total = NULL,
       updated_at_ms = ? WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const counting = sqlite.query(
    "UPDATE memory_stores SET items = items + ? WHERE project_id = ? AND environment = ? AND id = ?",
  );

  const get = ({ project_id, environment }: Scope, memoryId: string, id: string): NamedEntry | null =>
    selectOne.get(project_id, environment, memoryId, id, now());

  return {
    get,
    find: (scope: Scope, memoryId: string, id: string): NamedEntry => get(scope, memoryId, id) ?? throwNotFound(),
    ofCall: ({ project_id, environment }: Scope, callId: string): EntryRow | null =>
      selectOfCall.get(project_id, environment, callId),
    /** Entries that are alive at a time: now, or 0 for all. */
    ofFile: ({ project_id, environment }: Scope, fileId: string, at = now()): EntryRow[] =>
      selectOfFile.all(project_id, environment, fileId, at),
    /** Newest texts of a scope in a store, newest first. */
    texts: ({ project_id, environment }: Scope, memoryId: string, scopeId: string, most: number): Fact[] =>
      selectTexts.all(project_id, environment, memoryId, scopeId, now(), most),
    ofSubjects: ({ project_id, environment }: Scope, of: "user" | "session", ids: readonly string[], most: number) =>
      selectOfSubjects.all(project_id, environment, of, JSON.stringify(ids), most),
    /** Number of a store's entries that are processing, and that failed. */
    unfound: ({ project_id, environment }: Scope, memoryId: string) => ({
      processing: processing.get(project_id, environment, memoryId)!.n,
      failed: failed.get(project_id, environment, memoryId)!.n,
    }),

    /** Call inside a write. */
    insert(store: VectorStoreRow, scope_id: string, entry: NewEntryRow): string {
      const at = now();
      const { id } = rows.insert(store, {
        id: newId("memory_entry", at),
        memory_id: store.id,
        scope_id,
        status: "processing",
        created_at_ms: at,
        updated_at_ms: at,
        ...entry,
      });
      counting.run(1, store.project_id, store.environment, store.id);
      return id;
    },
    /** Hides an entry at once; its chunks are deleted later. Call inside a write. */
    mark({ project_id, environment, memory_id, id }: EntryRow): boolean {
      const { changes } = deletion.run(now(), project_id, environment, id);
      if (changes > 0) counting.run(-1, project_id, environment, memory_id);
      return changes > 0;
    },
    /** Changes an entry, to be indexed again; false if nothing differs. Call inside a write. */
    change(row: EntryRow, text: string | null, metadata: string): boolean {
      if (row.text === text && row.metadata === metadata) return false;
      const { project_id, environment, id } = row;
      const at = now();
      const { memory_id, scope_id, chunking } = row;
      const gone = rows.insert(row, {
        id: newId("memory_entry", at),
        memory_id,
        scope_id,
        chunking,
        metadata: row.metadata,
        status: "ready",
        created_at_ms: at,
        updated_at_ms: at,
        deleted_at_ms: at,
      });
      detaching.run(gone.id, project_id, environment, id);
      changing.run(text, metadata, at, project_id, environment, id);
      return true;
    },
  };
}

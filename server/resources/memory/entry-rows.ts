import { newId } from "../../domain/ids.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
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

const isAliveAt = (time: string) => `deleted_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ${time})`;
/** Condition of an entry that is visible at this time. */
export const isAliveSql = isAliveAt("?");

/** Rows of entries. Deleted and expired ones are hidden. */
export function createEntryRows(db: Db, now: () => number) {
  const { sqlite } = db;
  const rows = createScopedTable(db, memoryEntries);
  const inScope = "project_id = $project_id AND environment = $environment";
  const selectOne = sqlite.query<NamedEntry, ScopeColumns & { memoryId: string; id: string; now: number }>(
    `SELECT ${columnsOf(memoryEntries, "e")}, f.filename FROM memory_entries e
     LEFT JOIN files f ON f.project_id = e.project_id AND f.environment = e.environment AND f.id = e.file_id
     WHERE e.project_id = $project_id AND e.environment = $environment AND e.memory_id = $memoryId AND e.id = $id
       AND e.deleted_at_ms IS NULL AND (e.expires_at_ms IS NULL OR e.expires_at_ms > $now)`,
  );
  const selectOfCall = sqlite.query<EntryRow, ScopeColumns & { callId: string }>(
    `SELECT ${columnsOf(memoryEntries)} FROM memory_entries WHERE ${inScope} AND tool_call_id = $callId`,
  );
  const selectOfFile = sqlite.query<EntryRow, ScopeColumns & { fileId: string; at: number }>(
    `SELECT ${columnsOf(memoryEntries)} FROM memory_entries WHERE ${inScope} AND file_id = $fileId
       AND ${isAliveAt("$at")} ORDER BY id`,
  );
  const selectTexts = sqlite.query<
    Fact,
    ScopeColumns & { memoryId: string; scopeId: string; now: number; most: number }
  >(
    `SELECT id, text FROM memory_entries WHERE ${inScope} AND memory_id = $memoryId AND scope_id = $scopeId
       AND text IS NOT NULL AND ${isAliveAt("$now")} ORDER BY id DESC LIMIT $most`,
  );
  // CROSS fixes the join order: from the few stores of that scope, each by its index.
  const selectOfSubjects = sqlite.query<EntryRow, ScopeColumns & { of: string; ids: string; most: number }>(
    `SELECT ${columnsOf(memoryEntries, "e")} FROM memory_stores s CROSS JOIN json_each($ids) o CROSS JOIN memory_entries e
       ON e.project_id = s.project_id AND e.environment = s.environment AND e.memory_id = s.id AND e.scope_id = o.value
     WHERE s.project_id = $project_id AND s.environment = $environment AND s.scope = $of
       AND s.deleted_at_ms IS NULL AND e.deleted_at_ms IS NULL LIMIT $most`,
  );
  const countOf = (status: "processing" | "failed") =>
    sqlite.query<{ n: number }, ScopeColumns & { memoryId: string }>(
      `SELECT count(*) AS n FROM memory_entries WHERE ${inScope} AND memory_id = $memoryId
         AND status = '${status}' AND deleted_at_ms IS NULL`, // A literal, to match the partial index.
    );
  const [processing, failed] = [countOf("processing"), countOf("failed")];
  const deletion = sqlite.query(
    `UPDATE memory_entries SET deleted_at_ms = $now WHERE ${inScope} AND id = $id AND deleted_at_ms IS NULL`,
  );
  // A chunk never changes: when an entry changes, its chunks move to a deleted entry, and new ones are made.
  const detaching = sqlite.query(`UPDATE memory_chunks SET entry_id = $gone WHERE ${inScope} AND entry_id = $id`);
  const changing = sqlite.query(
    `UPDATE memory_entries SET text = $text, metadata = $metadata, status = 'processing', error = NULL,
       processed = 0, total = NULL, updated_at_ms = $at WHERE ${inScope} AND id = $id`,
  );
  const updateItemCount = sqlite.query(`UPDATE memory_stores SET items = items + $more WHERE ${inScope} AND id = $id`);

  const get = ({ project_id, environment }: Scope, memoryId: string, id: string): NamedEntry | null =>
    selectOne.get({ project_id, environment, memoryId, id, now: now() });

  return {
    get,
    find: (scope: Scope, memoryId: string, id: string): NamedEntry => get(scope, memoryId, id) ?? throwNotFound(),
    ofCall: ({ project_id, environment }: Scope, callId: string): EntryRow | null =>
      selectOfCall.get({ project_id, environment, callId }),
    /** Entries that are alive at a time: now, or 0 for all. */
    ofFile: ({ project_id, environment }: Scope, fileId: string, at = now()): EntryRow[] =>
      selectOfFile.all({ project_id, environment, fileId, at }),
    /** Newest texts of a scope in a store, newest first. */
    texts: ({ project_id, environment }: Scope, memoryId: string, scopeId: string, most: number): Fact[] =>
      selectTexts.all({ project_id, environment, memoryId, scopeId, now: now(), most }),
    ofSubjects: ({ project_id, environment }: Scope, of: "user" | "session", ids: readonly string[], most: number) =>
      selectOfSubjects.all({ project_id, environment, of, ids: JSON.stringify(ids), most }),
    /** Number of a store's entries that are processing, and that failed. */
    unfound: ({ project_id, environment }: Scope, memoryId: string) => ({
      processing: processing.get({ project_id, environment, memoryId })?.n ?? 0,
      failed: failed.get({ project_id, environment, memoryId })?.n ?? 0,
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
      const { project_id, environment } = store;
      updateItemCount.run({ project_id, environment, id: store.id, more: 1 });
      return id;
    },
    /** Hides an entry at once; its chunks are deleted later. Call inside a write. */
    mark({ project_id, environment, memory_id, id }: EntryRow): boolean {
      const { changes } = deletion.run({ project_id, environment, id, now: now() });
      if (changes > 0) updateItemCount.run({ project_id, environment, id: memory_id, more: -1 });
      return changes > 0;
    },
    /** Changes an entry, to be indexed again; false if nothing differs. Call inside a write. */
    change(row: EntryRow, text: string | null, metadata: string): boolean {
      if (row.text === text && row.metadata === metadata) return false;
      const { project_id, environment, id } = row;
      const at = now();
      const { memory_id, scope_id, chunking } = row;
      const replacedEntry = rows.insert(row, {
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
      detaching.run({ project_id, environment, id, gone: replacedEntry.id });
      changing.run({ project_id, environment, id, text, metadata, at });
      return true;
    },
  };
}

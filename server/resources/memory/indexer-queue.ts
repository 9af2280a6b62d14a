import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { Db } from "../../storage/db/open.ts";
import { memoryEntries } from "../../storage/db/schema.ts";
import { columnsOf } from "../../storage/db/scoped-table.ts";
import { createStoreRows, type EntryRow, type VectorStoreRow } from "./row.ts";

interface StoreKey extends Scope {
  id: string;
}

export type IndexerQueue = ReturnType<typeof createIndexerQueue>;

/** Finds entries to index. */
export function createIndexerQueue({ db, now }: { db: Db; now: () => number }) {
  const { sqlite } = db;
  // One index step per store, however many entries wait.
  const nextStore = sqlite.query<StoreKey, Record<keyof StoreKey, string>>(
    `SELECT project_id, environment, memory_id AS id FROM memory_entries WHERE status = 'processing'
       AND (project_id, environment, memory_id) > ($project_id, $environment, $id)
     ORDER BY project_id, environment, memory_id LIMIT 1`,
  );
  const changing = sqlite.query<StoreKey, []>(
    "SELECT project_id, environment, id FROM memory_stores WHERE next_model IS NOT NULL AND deleted_at_ms IS NULL",
  );
  const rows = createStoreRows(db);
  // Skips entries whose file is not processed yet.
  const workable = sqlite.query<EntryRow, ScopeColumns & { id: string; now: number; except: string; limit: number }>(
    `SELECT ${columnsOf(memoryEntries, "e")} FROM memory_entries e WHERE e.status = 'processing'
       AND e.project_id = $project_id AND e.environment = $environment AND e.memory_id = $id
       AND e.deleted_at_ms IS NULL AND (e.expires_at_ms IS NULL OR e.expires_at_ms > $now)
       AND e.id NOT IN (SELECT value FROM json_each($except))
       AND NOT EXISTS (SELECT 1 FROM files f WHERE f.project_id = e.project_id AND f.environment = e.environment
         AND f.id = e.file_id AND f.chunks = 0 AND f.status IN ('uploaded', 'processing'))
     ORDER BY e.id LIMIT $limit`,
  );

  return {
    /** Stores with work, in a stable order. */
    stores(): StoreKey[] {
      const found = new Map(changing.all().map((store) => [store.id, store]));
      const first = { project_id: "", environment: "", id: "" };
      for (let at = nextStore.get(first); at; at = nextStore.get({ ...at })) found.set(at.id, at);
      return [...found.values()].sort((a, b) => order(a.project_id, b.project_id) || order(a.id, b.id));
    },
    /** Null if it was deleted. */
    store: (key: StoreKey): VectorStoreRow | null => rows.get(key, key.id) as VectorStoreRow | null,
    /** Entries of a store that can be indexed, oldest first, except these. */
    entries: ({ project_id, environment, id }: StoreKey, except: readonly string[], limit: number): EntryRow[] =>
      workable.all({ project_id, environment, id, now: now(), except: JSON.stringify(except), limit }),
  };
}

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

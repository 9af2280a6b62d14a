import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { Db } from "../../storage/db/open.ts";
import type { EntryRow } from "./row.ts";

type Row = Pick<EntryRow, "memory_id" | "status" | "error" | "processed" | "total">;

/** Entries of a file in all memory stores. */
export function createFileEntries({ db: { sqlite }, now = Date.now }: { db: Db; now?: () => number }) {
  const live = sqlite.query<Row, ScopeColumns & { fileId: string; now: number }>(
    `SELECT e.memory_id, e.status, e.error, e.processed, e.total FROM memory_entries e
     JOIN memory_stores s ON s.project_id = e.project_id AND s.environment = e.environment AND s.id = e.memory_id
     WHERE e.project_id = $project_id AND e.environment = $environment AND e.file_id = $fileId AND e.deleted_at_ms IS NULL
       AND s.deleted_at_ms IS NULL AND (e.expires_at_ms IS NULL OR e.expires_at_ms > $now) ORDER BY e.id`,
  );
  const retrying = sqlite.query(
    `UPDATE memory_entries SET status = 'processing', error = NULL, updated_at_ms = $now
     WHERE project_id = $project_id AND environment = $environment AND file_id = $fileId AND status = 'failed' AND deleted_at_ms IS NULL`,
  );

  return {
    of({ project_id, environment }: Scope, fileId: string) {
      const rows = live.all({ project_id, environment, fileId, now: now() });
      const errorOf = (wanted: EntryRow["status"]) => {
        const { error } = rows.find(({ status, error }) => status === wanted && error !== null) ?? {};
        return error ? (JSON.parse(error) as { code: string; message: string }) : null;
      };
      return {
        memory_ids: [...new Set(rows.map(({ memory_id }) => memory_id))],
        processed: rows.reduce((sum, { processed }) => sum + processed, 0),
        total: rows.reduce<number | null>((sum, { total }) => (sum === null || total === null ? null : sum + total), 0),
        processing: rows.filter(({ status }) => status === "processing").length,
        error: errorOf("failed"),
        delay: errorOf("processing"),
      };
    },

    /** Retries failed entries and returns their number. Call inside a write. */
    retry: ({ project_id, environment }: Scope, fileId: string): number =>
      retrying.run({ project_id, environment, fileId, now: now() }).changes,
  };
}

import { changeable } from "../../domain/api-types/schema.ts";
import { timestampOrNull } from "../../domain/time.ts";
import type { EntryRow, StoreRow } from "./row.ts";

/** Number of a store's chunks that have a vector of the new embedding, and of all. */
export interface IndexProgress {
  processed: number;
  total: number;
  /** Reason why it is stalled, or null. */
  error: { code: string; message: string } | null;
}

/** Serializes a store for clients. */
export const serializeStore = (row: StoreRow, progressOf: (row: StoreRow) => IndexProgress | null) => ({
  id: row.id,
  object: "memory" as const,
  name: row.name,
  kind: row.kind,
  scope: row.scope,
  embedding: row.model === null || row.dimensions === null ? null : { model: row.model, dimensions: row.dimensions },
  ttl_seconds: row.ttl_seconds,
  entries: row.kind === "vector" ? row.items : null,
  keys: row.kind === "kv" ? row.items : null,
  indexing: indexing(row, () => progressOf(row) ?? { processed: 0, total: 0, error: null }),
  ...changeable(row),
});

function indexing({ next_model: model, next_dimensions: dimensions }: StoreRow, progress: () => IndexProgress) {
  if (model === null || dimensions === null) return null;
  const { processed, total, error } = progress();
  return { processed, total, model, dimensions, error };
}

/** Metadata of an entry. */
export type EntryMetadata = Record<string, string | number | boolean>;

/** Serializes an entry for clients. */
export const serializeEntry = (row: EntryRow & { filename: string | null }) => ({
  id: row.id,
  object: "memory_entry" as const,
  memory_id: row.memory_id,
  status: row.status,
  error: row.error === null ? null : (JSON.parse(row.error) as { code: string; message: string }),
  text: row.text,
  file_id: row.file_id,
  filename: row.filename,
  scope_id: row.scope_id === "" ? null : row.scope_id,
  chunks: row.total ?? 0,
  processed: row.processed,
  total: row.total,
  expires_at: timestampOrNull(row.expires_at_ms),
  ...changeable({ ...row, metadata: JSON.parse(row.metadata) as EntryMetadata }),
});

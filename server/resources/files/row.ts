import type { CodedError } from "../../domain/errors.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { files } from "../../storage/db/schema.ts";

/** A file row. `chunking` is null for files that are not processed; `chunks` is set on processed ones. */
export type FileRow = typeof files.$inferSelect;

/** Indexing progress of a file in memory stores. */
export interface IndexingProgress {
  memory_ids: string[];
  /** Indexed chunks; `total` is null until all are counted. */
  processed: number;
  total: number | null;
  /** Number of unfinished entries. */
  processing: number;
  /** Error of a failed entry. */
  error: CodedError | null;
  /** Reason why an entry is stalled. */
  delay: CodedError | null;
}

/** Serializes a file for clients. */
export const serializeFile = (row: FileRow, { memory_ids, processed, total, delay }: IndexingProgress) => ({
  id: row.id,
  object: "file" as const,
  filename: row.filename,
  mime_type: row.mime_type,
  bytes: row.bytes,
  sha256: row.sha256,
  purpose: row.purpose,
  status: row.status,
  error: row.error ?? (row.status === "processing" ? delay : null),
  chunks: row.chunks,
  pages: row.pages,
  pages_done: row.pages_done ?? row.pages,
  characters: row.report?.characters ?? null,
  encoding: row.report?.encoding ?? row.encoding,
  include_hidden: row.include_hidden,
  warnings: row.report?.warnings ?? [],
  memory_ids,
  processed: memory_ids.length > 0 ? processed : row.chunks,
  total: memory_ids.length > 0 ? total : row.chunks || null,
  run_id: row.run_id,
  tool_call_id: row.tool_call_id,
  expires_at: timestampOrNull(row.expires_at_ms),
  metadata: row.metadata,
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});

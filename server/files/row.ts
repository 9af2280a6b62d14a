import type { CodedError } from "../core/errors.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { files } from "../db/schema.ts";

/** A file as the table holds it. What is not read as a document has no `chunking`; one that is read has `chunks`. */
export type FileRow = typeof files.$inferSelect;

/** How far memory stores are with a file. */
export interface Indexed {
  memory_ids: string[];
  /** Chunks that can be found, of so many; null until all are counted. */
  processed: number;
  total: number | null;
  /** Entries that are not done. */
  processing: number;
  /** Of an entry that failed. */
  error: CodedError | null;
  /** Why an entry does not go on now. */
  delay: CodedError | null;
}

/** A file as clients see it. */
export const shownFile = (row: FileRow, { memory_ids, processed, total, delay }: Indexed) => ({
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

import type { Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { Content } from "../db/file-blobs.ts";
import type { FilePurpose, FileStatus } from "../wire/names.ts";

/** A file as the table holds it. */
export interface FileRow extends Scope, Content {
  id: string;
  filename: string;
  mime_type: string;
  purpose: FilePurpose;
  status: FileStatus;
  error: string | null;
  /** JSON; null for what is not read as a document. */
  chunking: string | null;
  /** 0 until it is read: a document has at least one. */
  chunks: number;
  pages: number | null;
  attempts: number;
  run_id: string | null;
  tool_call_id: string | null;
  agent_id: string | null;
  metadata: string;
  created_at_ms: number;
  expires_at_ms: number | null;
}

/** Why a file failed. */
export interface FileError {
  code: string;
  message: string;
}

/** How far memory stores are with a file. */
export interface Indexed {
  memory_ids: string[];
  /** Chunks that can be found, of so many; null until all are counted. */
  processed: number;
  total: number | null;
  /** Entries that are not done. */
  processing: number;
  /** Of an entry that failed. */
  error: FileError | null;
  /** Why an entry does not go on now. */
  delay: FileError | null;
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
  error: row.error === null ? (row.status === "processing" ? delay : null) : (JSON.parse(row.error) as FileError),
  chunks: row.chunks,
  pages: row.pages,
  memory_ids,
  processed: memory_ids.length > 0 ? processed : row.chunks,
  total: memory_ids.length > 0 ? total : row.chunks || null,
  run_id: row.run_id,
  tool_call_id: row.tool_call_id,
  expires_at: timestampOrNull(row.expires_at_ms),
  metadata: JSON.parse(row.metadata) as Record<string, string>,
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});

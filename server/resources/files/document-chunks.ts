import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { Box } from "../../runtime/documents/boxes.ts";
import type { DocumentChunk } from "../../runtime/documents/chunking.ts";
import type { Db } from "../../storage/db/open.ts";
import type { documentChunks } from "../../storage/db/schema.ts";

type Row = Omit<typeof documentChunks.$inferSelect, keyof Scope | "file_id">;

/** A stored chunk of a document, with its position. */
type StoredChunk = Omit<Row, "boxes" | "source"> & { boxes?: readonly Box[]; source?: "ocr" };

export type DocumentChunks = ReturnType<typeof createDocumentChunks>;

/** Stores the text of documents. */
export function createDocumentChunks({ db: { sqlite } }: { db: Db }) {
  const ofFile = "project_id = $project_id AND environment = $environment AND file_id = $fileId";
  type Key = ScopeColumns & { fileId: string };
  const selectRange = sqlite.query<Row, Key & { from: number; limit: number }>(
    `SELECT chunk_index, text, tokens, page, heading, boxes, source FROM document_chunks
     WHERE ${ofFile} AND chunk_index >= $from ORDER BY chunk_index LIMIT $limit`,
  );
  const insertion = sqlite.query(
    `INSERT INTO document_chunks (project_id, environment, file_id, chunk_index, text, tokens, page, heading, boxes, source)
     VALUES ($project_id, $environment, $fileId, $index, $text, $tokens, $page, $heading, $boxes, $source)`,
  );
  const deletion = sqlite.query(
    `DELETE FROM document_chunks WHERE ${ofFile} AND chunk_index IN (
       SELECT chunk_index FROM document_chunks WHERE ${ofFile} LIMIT $limit)`,
  );

  return {
    /** Chunks from index `from` on, in order. */
    read: ({ project_id, environment }: Scope, fileId: string, from: number, limit: number): StoredChunk[] =>
      selectRange.all({ project_id, environment, fileId, from, limit }).map(toChunk),

    /** Appends chunks after the first `from`. Call inside a write. */
    insert({ project_id, environment }: Scope, fileId: string, chunks: readonly DocumentChunk[], from: number): void {
      const key = { project_id, environment, fileId };
      for (const [at, { boxes: placed, source = null, text, tokens, page, heading }] of chunks.entries()) {
        const boxes = placed ? JSON.stringify(placed) : null;
        insertion.run({ ...key, index: from + at, text, tokens, page, heading, boxes, source });
      }
    },

    /** Deletes up to `limit` chunks and returns their number. Call inside a write. */
    clear({ project_id, environment }: Scope, fileId: string, limit: number): number {
      return deletion.run({ project_id, environment, fileId, limit }).changes;
    },
  };
}

const toChunk = ({ boxes, source, ...chunk }: Row): StoredChunk => ({
  ...chunk,
  ...(boxes !== null && { boxes: JSON.parse(boxes) as Box[] }),
  ...(source !== null && { source }),
});

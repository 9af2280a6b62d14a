import type { Environment, Scope } from "../../domain/scope.ts";
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
  const ofFile = "project_id = ? AND environment = ? AND file_id = ?";
  type Key = [string, Environment, string];
  const some = sqlite.query<Row, [...Key, number, number]>(
    `SELECT chunk_index, text, tokens, page, heading, boxes, source FROM document_chunks
     WHERE ${ofFile} AND chunk_index >= ? ORDER BY chunk_index LIMIT ?`,
  );
  const insertion = sqlite.query(
    `INSERT INTO document_chunks (project_id, environment, file_id, chunk_index, text, tokens, page, heading, boxes, source)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const deletion = sqlite.query(
    `DELETE FROM document_chunks WHERE ${ofFile} AND chunk_index IN (
       SELECT chunk_index FROM document_chunks WHERE ${ofFile} LIMIT ?)`,
  );

  return {
    /** Chunks from index `from` on, in order. */
    read: ({ project_id, environment }: Scope, fileId: string, from: number, limit: number): StoredChunk[] =>
      some.all(project_id, environment, fileId, from, limit).map(toChunk),

    /** Appends chunks after the first `from`. Call inside a write. */
    insert({ project_id, environment }: Scope, fileId: string, chunks: readonly DocumentChunk[], from: number): void {
      for (const [index, { text, tokens, page, heading, boxes, source = null }] of chunks.entries()) {
        const placed = boxes ? JSON.stringify(boxes) : null;
        insertion.run(project_id, environment, fileId, from + index, text, tokens, page, heading, placed, source);
      }
    },

    /** Deletes up to `limit` chunks and returns their number. Call inside a write. */
    clear({ project_id, environment }: Scope, fileId: string, limit: number): number {
      return deletion.run(project_id, environment, fileId, project_id, environment, fileId, limit).changes;
    },
  };
}

const toChunk = ({ boxes, source, ...chunk }: Row): StoredChunk => ({
  ...chunk,
  ...(boxes !== null && { boxes: JSON.parse(boxes) as Box[] }),
  ...(source !== null && { source }),
});

import type { Database } from "bun:sqlite";
import { AppError } from "../../domain/errors.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { sha256 } from "../../lib/hash.ts";
import { createGarbageCollector } from "./garbage-collector.ts";
import type { Db } from "./open.ts";
import type { fileBlobs } from "./schema.ts";

/** Content of files, shared by all files of one project and environment that have the same bytes. */
interface Content {
  readonly sha256: string;
  readonly bytes: number;
}

/** A range of bytes: `start` inclusive, `end` exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Content that is read in chunks. */
export interface StoredContent extends Content {
  /** Throws if the content is deleted during the read. */
  read(range?: Range): Generator<Uint8Array, void>;
}

/** Content being uploaded. The caller must close it in any case; content that was not kept is then deleted. */
export interface Upload {
  /** Appends bytes; resolves when there is room for more. Call it once at a time. */
  append(data: Uint8Array): Promise<void>;
  /** Number of bytes received. */
  size(): number;
  /** Returns the hash and size of the content. No `append` may follow. */
  content(): Content;
  /** Makes the content readable. Call it inside the write that inserts a file with this content. */
  keep(): void;
  close(): void;
}

/**
 * Bytes per row: a write of 0.6 ms. Larger rows are written no faster (100 MB in half a second, with checkpoints) and
 * make other writers wait longer.
 */
const chunkBytes = 256 * 1024;
// Chunks deleted per write: 4 MB in 2 ms, so that other writers wait only milliseconds.
const chunksPerWrite = 16;

export type FileBlobs = ReturnType<typeof createFileBlobs>;

/** Stores the contents of files in the database. */
export function createFileBlobs({
  db,
  onError = () => {},
  now = Date.now,
  pause_ms = 5,
}: {
  db: Db;
  /** Called when unused content could not be deleted; the next sweep tries again. */
  onError?: (error: unknown) => void;
  now?: () => number;
  pause_ms?: number;
}) {
  const { sqlite } = db;
  const insertBlob = sqlite.query(
    `INSERT INTO file_blobs (project_id, environment, id, sha256, bytes, chunk_bytes, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertChunk = sqlite.query(
    `INSERT INTO file_chunks (project_id, environment, blob_id, position, content)
     SELECT project_id, environment, id, ?, ? FROM file_blobs
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const settle = sqlite.query(
    "UPDATE file_blobs SET sha256 = ?, bytes = ? WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const find = sqlite.query<unknown, [string, Environment, string]>(
    "SELECT 1 FROM file_blobs WHERE project_id = ? AND environment = ? AND sha256 = ?",
  );
  const drop = sqlite.query<{ id: string; bytes: number }, [string, Environment, string]>(
    `UPDATE file_blobs SET sha256 = NULL WHERE project_id = ?1 AND environment = ?2 AND sha256 = ?3
       AND NOT EXISTS (SELECT 1 FROM files WHERE project_id = ?1 AND environment = ?2 AND sha256 = ?3) RETURNING id, bytes`,
  );
  const unused = sqlite.query<{ project_id: string; environment: Environment; id: string }, [string]>(
    `SELECT project_id, environment, id FROM file_blobs
     WHERE sha256 IS NULL AND id NOT IN (SELECT value FROM json_each(?)) LIMIT 1`,
  );
  const deleteChunks = sqlite.query(
    `DELETE FROM file_chunks WHERE rowid IN (SELECT rowid FROM file_chunks
       WHERE project_id = ? AND environment = ? AND blob_id = ? LIMIT ${chunksPerWrite})`,
  );
  const deleteBlob = sqlite.query("DELETE FROM file_blobs WHERE project_id = ? AND environment = ? AND id = ?");

  /**
   * Uploads of this process. Any other content without a hash was left by a process that has ended or is being deleted.
   */
  const arriving = new Set<string>();

  function addBlob({ project_id, environment }: Scope, id: string, content: Content | null): void {
    insertBlob.run(project_id, environment, id, content?.sha256 ?? null, content?.bytes ?? 0, chunkBytes, now());
  }

  function addChunk({ project_id, environment }: Scope, id: string, position: number, data: Uint8Array): void {
    if (insertChunk.run(position, data, project_id, environment, id).changes === 0) throw erased();
  }

  const isKnown = ({ project_id, environment }: Scope, hash: string): boolean =>
    find.get(project_id, environment, hash) !== null;

  /** Begins an upload. Content that fits into one chunk is written only when it is kept. */
  function begin(scope: Scope): Upload {
    const id = crypto.randomUUID();
    const hasher = new Bun.CryptoHasher("sha256");
    const buffer = new Uint8Array(chunkBytes);
    let filled = 0;
    let position = 0;
    let bytes = 0;
    let content: Content | null = null;

    async function append(data: Uint8Array): Promise<void> {
      hasher.update(data);
      bytes += data.length;
      for (let rest = data; rest.length > 0; ) {
        if (filled === chunkBytes) await writeChunk();
        const part = rest.subarray(0, chunkBytes - filled);
        buffer.set(part, filled);
        filled += part.length;
        rest = rest.subarray(part.length);
      }
    }

    async function writeChunk(): Promise<void> {
      arriving.add(id);
      await db.write(() => {
        if (position === 0) addBlob(scope, id, null);
        addChunk(scope, id, position, buffer);
      });
      position++;
      filled = 0;
    }

    const whole = (): Content => {
      content ??= { sha256: hasher.digest("hex"), bytes };
      return content;
    };

    function keep(): void {
      const content = whole();
      if (isKnown(scope, content.sha256)) return; // The chunks of this upload are deleted when it is closed.
      const { project_id, environment } = scope;
      if (position === 0) addBlob(scope, id, content);
      else if (settle.run(content.sha256, bytes, project_id, environment, id).changes === 0) throw erased();
      if (filled > 0) addChunk(scope, id, position, buffer.subarray(0, filled));
    }

    function close(): void {
      if (arriving.delete(id)) collector.collectSoon();
    }

    return { append, size: () => bytes, content: whole, keep, close };
  }

  /**
   * Stores content that is complete, unless it exists. Call it inside the write that inserts a file with this content.
   */
  function put(scope: Scope, data: Uint8Array): Content {
    const content = { sha256: sha256(data), bytes: data.length };
    if (isKnown(scope, content.sha256)) return content;
    const id = crypto.randomUUID();
    addBlob(scope, id, content);
    for (let position = 0; position * chunkBytes < data.length; position++)
      addChunk(scope, id, position, data.subarray(position * chunkBytes, (position + 1) * chunkBytes));
    return content;
  }

  /**
   * Deletes content that has no other file; if it has several chunks, leaves them to the next sweep. Call it inside the
   * write that deletes the file.
   */
  function release({ project_id, environment }: Scope, hash: string): void {
    const dropped = drop.get(project_id, environment, hash);
    if (dropped && dropped.bytes <= chunkBytes) deleteSome(project_id, environment, dropped.id);
  }

  function deleteSome(project_id: string, environment: Environment, id: string): number {
    const { changes } = deleteChunks.run(project_id, environment, id);
    if (changes < chunksPerWrite) deleteBlob.run(project_id, environment, id);
    return changes;
  }

  const findUnused = () => unused.get(JSON.stringify([...arriving]));

  /** Deletes a few chunks of unused content, and returns the number of rows. Call it inside a write. */
  function forgetUnused(): number {
    const blob = findUnused();
    if (!blob) return 0;
    return deleteSome(blob.project_id, blob.environment, blob.id) + 1;
  }

  const collector = createGarbageCollector({
    db,
    forget: forgetUnused,
    onError,
    pause_ms,
    isThere: () => findUnused() !== null,
  });

  return {
    begin,
    put,
    release,
    forgetUnused,
    ...collector,
    ...createBlobReader(sqlite),
  };
}

type Row = Pick<typeof fileBlobs.$inferSelect, "id" | "bytes" | "chunk_bytes">;

/** Reads contents. Works in any thread, with a read-only connection. */
export function createBlobReader(sqlite: Database) {
  const find = sqlite.query<Row, [string, Environment, string]>(
    "SELECT id, bytes, chunk_bytes FROM file_blobs WHERE project_id = ? AND environment = ? AND sha256 = ?",
  );
  const chunk = sqlite.query<{ content: Uint8Array }, [string, Environment, string, number]>(
    "SELECT content FROM file_chunks WHERE project_id = ? AND environment = ? AND blob_id = ? AND position = ?",
  );

  function* read({ project_id, environment }: Scope, { id, chunk_bytes }: Row, { start, end }: Range) {
    for (let from = start; from < end; ) {
      const position = Math.floor(from / chunk_bytes);
      const row = chunk.get(project_id, environment, id, position);
      if (!row) throw new Error("The content was deleted while it was read.");
      const begin = position * chunk_bytes;
      const data = row.content.subarray(from - begin, end - begin);
      from += data.length;
      yield data;
    }
  }

  return {
    /** Returns null if no file of this project and environment has this content. */
    open(scope: Scope, sha256: string): StoredContent | null {
      const row = find.get(scope.project_id, scope.environment, sha256);
      return (
        row && { sha256, bytes: row.bytes, read: (range = { start: 0, end: row.bytes }) => read(scope, row, range) }
      );
    },
  };
}

const erased = () => new AppError("resource_not_found", "The project was deleted while the file arrived.");

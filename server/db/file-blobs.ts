import type { Database } from "bun:sqlite";
import { AppError } from "../core/errors.ts";
import type { Environment, Scope } from "../core/scope.ts";
import { sha256 } from "../lib/hash.ts";
import { createCollector } from "./collector.ts";
import type { Db } from "./open.ts";
import type { fileBlobs } from "./schema.ts";

/** What a file holds: any number of files of one project and environment share it. */
interface Content {
  readonly sha256: string;
  readonly bytes: number;
}

/** Bytes from `start` on, without the one at `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Content that can be read, a chunk at a time. */
export interface StoredContent extends Content {
  /** Throws in the middle when the content is deleted meanwhile. */
  read(range?: Range): Generator<Uint8Array, void>;
}

/** Content that arrives. Whoever began it closes it, however it ends: what was not kept is then deleted. */
export interface Upload {
  /** Takes the bytes, and settles when there is room for more. One call at a time. */
  append(data: Uint8Array): Promise<void>;
  /** Bytes so far. */
  size(): number;
  /** What has arrived; nothing may follow. */
  content(): Content;
  /** Within the write that also inserts a file with this content: from then on it can be read. */
  keep(): void;
  close(): void;
}

/**
 * Bytes of a row. Larger ones are written no faster (100 MB in half a second, the log's checkpoints included), and keep
 * everybody else waiting for longer: this much is 0.6 ms.
 */
const chunkBytes = 256 * 1024;
// What one write deletes at most, 4 MB in 2 ms, so that those who wait for the next one wait for milliseconds.
const chunksPerWrite = 16;

export type FileBlobs = ReturnType<typeof createFileBlobs>;

/** Contents of files, in the database. */
export function createFileBlobs({
  db,
  onError = () => {},
  now = Date.now,
  pause_ms = 5,
}: {
  db: Db;
  /** Told when what nobody uses could not be deleted; the next sweep tries again. */
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

  /** Uploads of this process; what else has no hash is left of a process that is gone, or on its way out. */
  const arriving = new Set<string>();

  function addBlob({ project_id, environment }: Scope, id: string, content: Content | null): void {
    insertBlob.run(project_id, environment, id, content?.sha256 ?? null, content?.bytes ?? 0, chunkBytes, now());
  }

  function addChunk({ project_id, environment }: Scope, id: string, position: number, data: Uint8Array): void {
    if (insertChunk.run(position, data, project_id, environment, id).changes === 0) throw erased();
  }

  const isKnown = ({ project_id, environment }: Scope, hash: string): boolean =>
    find.get(project_id, environment, hash) !== null;

  /** Begins to take content in. What fits into one chunk is not written before it is kept. */
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
      if (isKnown(scope, content.sha256)) return; // Its own chunks are deleted once it is closed.
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

  /** Within a write that also inserts a file with this content: for content that is there already. */
  function put(scope: Scope, data: Uint8Array): Content {
    const content = { sha256: sha256(data), bytes: data.length };
    if (isKnown(scope, content.sha256)) return content;
    const id = crypto.randomUUID();
    addBlob(scope, id, content);
    for (let position = 0; position * chunkBytes < data.length; position++)
      addChunk(scope, id, position, data.subarray(position * chunkBytes, (position + 1) * chunkBytes));
    return content;
  }

  /** Within a write that has deleted a file: its content goes when no other file has it. More than one chunk goes later. */
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

  /** Within a write: deletes a little of what nobody uses. Returns how many rows those were. */
  function forgetUnused(): number {
    const blob = findUnused();
    if (!blob) return 0;
    return deleteSome(blob.project_id, blob.environment, blob.id) + 1;
  }

  const collector = createCollector({
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

/** Reads contents; a handle that can only read will do, in any thread. */
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
    /** Null when no file of this project and environment has this content. */
    open(scope: Scope, sha256: string): StoredContent | null {
      const row = find.get(scope.project_id, scope.environment, sha256);
      return (
        row && { sha256, bytes: row.bytes, read: (range = { start: 0, end: row.bytes }) => read(scope, row, range) }
      );
    },
  };
}

const erased = () => new AppError("resource_not_found", "The project was deleted while the file arrived.");

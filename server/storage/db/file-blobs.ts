import type { Database } from "bun:sqlite";
import { AppError } from "../../domain/errors.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
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

/**
 * Bytes per row: a write of 0.6 ms. Larger rows are written no faster (100 MB in half a second, with checkpoints) and
 * make other writers wait longer.
 */
const chunkBytes = 256 * 1024;
// Chunks deleted per write: 4 MB in 2 ms, so that other writers wait only milliseconds.
const chunksPerWrite = 16;

const arrivingContent = { sha256: null, bytes: 0 };

type BlobKey = Pick<typeof fileBlobs.$inferSelect, "project_id" | "environment" | "id">;
type HashKey = ScopeColumns & { sha256: string };

interface FileBlobsOptions {
  db: Db;
  /** Called when unused content could not be deleted; the next sweep tries again. */
  onError?: (error: unknown) => void;
  now?: () => number;
  pause_ms?: number;
}

type Row = Pick<typeof fileBlobs.$inferSelect, "id" | "bytes" | "chunk_bytes">;

/** Reads contents. Works in any thread, with a read-only connection. */
export class BlobReader {
  readonly #find;
  readonly #chunk;

  constructor(sqlite: Database) {
    this.#find = sqlite.query<Row, HashKey>(
      `SELECT id, bytes, chunk_bytes FROM file_blobs
       WHERE project_id = $project_id AND environment = $environment AND sha256 = $sha256`,
    );
    this.#chunk = sqlite.query<{ content: Uint8Array }, BlobKey & { position: number }>(
      `SELECT content FROM file_chunks
       WHERE project_id = $project_id AND environment = $environment AND blob_id = $id AND position = $position`,
    );
  }

  /** Returns null if no file of this project and environment has this content. */
  open({ project_id, environment }: Scope, sha256: string): StoredContent | null {
    const row = this.#find.get({ project_id, environment, sha256 });
    if (!row) return null;
    const { id, bytes } = row;
    const key = { project_id, environment, id };
    return { sha256, bytes, read: (range = { start: 0, end: bytes }) => this.#read(key, row.chunk_bytes, range) };
  }

  *#read(key: BlobKey, chunk_bytes: number, { start, end }: Range): Generator<Uint8Array, void> {
    for (let from = start; from < end; ) {
      const position = Math.floor(from / chunk_bytes);
      const row = this.#chunk.get({ ...key, position });
      if (!row) throw new Error("The content was deleted while it was read.");
      const begin = position * chunk_bytes;
      const data = row.content.subarray(from - begin, end - begin);
      from += data.length;
      yield data;
    }
  }
}

/** Stores the contents of files in the database. */
export class FileBlobs extends BlobReader {
  readonly #db: Db;
  readonly #rows: BlobRows;
  readonly #collector;
  /**
   * Uploads of this process. Any other content without a hash was left by a process that has ended or is being deleted.
   */
  readonly #arriving = new Set<string>();

  constructor({ db, onError = () => {}, now = Date.now, pause_ms = 5 }: FileBlobsOptions) {
    super(db.sqlite);
    this.#db = db;
    this.#rows = createBlobRows(db.sqlite, now);
    this.#collector = createGarbageCollector({
      db,
      forget: () => this.forgetUnused(),
      onError,
      pause_ms,
      isThere: () => this.#rows.unused(this.#arriving) !== null,
    });
  }

  /** Begins an upload. Content that fits into one chunk is written only when it is kept. */
  begin(scope: Scope): Upload {
    return new Upload(scope, {
      db: this.#db,
      rows: this.#rows,
      arriving: this.#arriving,
      collectSoon: () => this.collectSoon(),
    });
  }

  /**
   * Stores content that is complete, unless it exists. Call it inside the write that inserts a file with this content.
   */
  put({ project_id, environment }: Scope, data: Uint8Array): Content {
    const content = { sha256: sha256(data), bytes: data.length };
    const key = { project_id, environment, id: crypto.randomUUID() };
    if (this.#rows.isKnown(key, content.sha256)) return content;
    this.#rows.addBlob(key, content);
    for (let position = 0; position * chunkBytes < data.length; position++)
      this.#rows.addChunk(key, position, data.subarray(position * chunkBytes, (position + 1) * chunkBytes));
    return content;
  }

  /**
   * Deletes content that no other file, no skill and no workspace has; if it has several chunks, leaves them to the next sweep. Call it inside the
   * write that deletes the file.
   */
  release({ project_id, environment }: Scope, hash: string): void {
    const dropped = this.#rows.drop({ project_id, environment, sha256: hash });
    if (dropped && dropped.bytes <= chunkBytes) this.#rows.deleteSome({ project_id, environment, id: dropped.id });
  }

  /** Deletes a few chunks of unused content, and returns the number of rows. Call it inside a write. */
  forgetUnused(): number {
    const blob = this.#rows.unused(this.#arriving);
    return blob ? this.#rows.deleteSome(blob) + 1 : 0;
  }

  collect(): Promise<void> {
    return this.#collector.collect();
  }

  /** Collects in the background, with retries. */
  collectSoon(): void {
    this.#collector.collectSoon();
  }

  /** Stops after the write in progress; the next start continues. */
  stop(): Promise<void> {
    return this.#collector.stop();
  }
}

interface UploadOptions {
  db: Pick<Db, "write">;
  rows: BlobRows;
  /** Ids of unfinished uploads. */
  arriving: Set<string>;
  collectSoon: () => void;
}

/** Content being uploaded. The caller must close it in any case; content that was not kept is then deleted. */
export class Upload {
  readonly #key: BlobKey;
  readonly #options: UploadOptions;
  readonly #hasher = new Bun.CryptoHasher("sha256");
  readonly #buffer = new Uint8Array(chunkBytes);
  #filled = 0;
  #position = 0;
  #bytes = 0;
  #content: Content | null = null;

  constructor({ project_id, environment }: Scope, options: UploadOptions) {
    this.#key = { project_id, environment, id: crypto.randomUUID() };
    this.#options = options;
  }

  /** Appends bytes; resolves when there is room for more. Call it once at a time. */
  async append(data: Uint8Array): Promise<void> {
    this.#hasher.update(data);
    this.#bytes += data.length;
    for (let remaining = data; remaining.length > 0; ) {
      if (this.#filled === chunkBytes) await this.#writeChunk();
      const part = remaining.subarray(0, chunkBytes - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      remaining = remaining.subarray(part.length);
    }
  }

  /** Number of bytes received. */
  size(): number {
    return this.#bytes;
  }

  /** Returns the hash and size of the content. No `append` may follow. */
  content(): Content {
    this.#content ??= { sha256: this.#hasher.digest("hex"), bytes: this.#bytes };
    return this.#content;
  }

  /** Makes the content readable. Call it inside the write that inserts a file with this content. */
  keep(): void {
    const { rows } = this.#options;
    const content = this.content();
    if (rows.isKnown(this.#key, content.sha256)) return; // The chunks of this upload are deleted when it is closed.
    if (this.#position === 0) rows.addBlob(this.#key, content);
    else rows.settle(this.#key, content);
    if (this.#filled > 0) rows.addChunk(this.#key, this.#position, this.#buffer.subarray(0, this.#filled));
  }

  close(): void {
    const { arriving, collectSoon } = this.#options;
    if (arriving.delete(this.#key.id)) collectSoon();
  }

  async #writeChunk(): Promise<void> {
    const { db, rows, arriving } = this.#options;
    arriving.add(this.#key.id);
    await db.write(() => {
      if (this.#position === 0) rows.addBlob(this.#key, arrivingContent);
      rows.addChunk(this.#key, this.#position, this.#buffer);
    });
    this.#position++;
    this.#filled = 0;
  }
}

type BlobRows = ReturnType<typeof createBlobRows>;

/** SQL of the contents. Call those that write inside a write. */
function createBlobRows(sqlite: Database, now: () => number) {
  const scope = "project_id = $project_id AND environment = $environment";
  const insertBlob = sqlite.query(
    `INSERT INTO file_blobs (project_id, environment, id, sha256, bytes, chunk_bytes, created_at_ms)
     VALUES ($project_id, $environment, $id, $sha256, $bytes, ${chunkBytes}, $now)`,
  );
  const insertChunk = sqlite.query(
    `INSERT INTO file_chunks (project_id, environment, blob_id, position, content)
     SELECT project_id, environment, id, $position, $content FROM file_blobs WHERE ${scope} AND id = $id`,
  );
  const settle = sqlite.query(`UPDATE file_blobs SET sha256 = $sha256, bytes = $bytes WHERE ${scope} AND id = $id`);
  const find = sqlite.query<unknown, HashKey>(`SELECT 1 FROM file_blobs WHERE ${scope} AND sha256 = $sha256`);
  const drop = sqlite.query<{ id: string; bytes: number }, HashKey>(
    `UPDATE file_blobs SET sha256 = NULL WHERE ${scope} AND sha256 = $sha256
       AND NOT EXISTS (SELECT 1 FROM files WHERE ${scope} AND sha256 = $sha256)
       AND NOT EXISTS (SELECT 1 FROM skill_files WHERE ${scope} AND sha256 = $sha256)
       AND NOT EXISTS (SELECT 1 FROM workspace_contents WHERE ${scope} AND sha256 = $sha256) RETURNING id, bytes`,
  );
  const unused = sqlite.query<BlobKey, [string]>(
    `SELECT project_id, environment, id FROM file_blobs
     WHERE sha256 IS NULL AND id NOT IN (SELECT value FROM json_each(?)) LIMIT 1`,
  );
  const deleteChunks = sqlite.query(
    `DELETE FROM file_chunks WHERE rowid IN
       (SELECT rowid FROM file_chunks WHERE ${scope} AND blob_id = $id LIMIT ${chunksPerWrite})`,
  );
  const deleteBlob = sqlite.query(`DELETE FROM file_blobs WHERE ${scope} AND id = $id`);
  return {
    addBlob: (key: BlobKey, { sha256, bytes }: Content | typeof arrivingContent): void =>
      void insertBlob.run({ ...key, sha256, bytes, now: now() }),
    addChunk(key: BlobKey, position: number, content: Uint8Array): void {
      if (insertChunk.run({ ...key, position, content }).changes === 0) throw erasedError();
    },
    /** Gives content that has arrived its hash. */
    settle(key: BlobKey, { sha256, bytes }: Content): void {
      if (settle.run({ ...key, sha256, bytes }).changes === 0) throw erasedError();
    },
    isKnown: ({ project_id, environment }: BlobKey, sha256: string): boolean =>
      find.get({ project_id, environment, sha256 }) !== null,
    /** Takes the hash from content that has no file, and returns it. */
    drop: (key: HashKey) => drop.get(key),
    unused: (arriving: ReadonlySet<string>) => unused.get(JSON.stringify([...arriving])),
    /** Deletes a few chunks, and the content with the last ones. Returns the number of chunks. */
    deleteSome(key: BlobKey): number {
      const { changes } = deleteChunks.run(key);
      if (changes < chunksPerWrite) deleteBlob.run(key);
      return changes;
    },
  };
}

const erasedError = () => new AppError("resource_not_found", "The project was deleted while the file arrived.");

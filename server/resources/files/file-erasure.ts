import { lte, sql } from "drizzle-orm";
import type { Scope } from "../../domain/scope.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import type { Db } from "../../storage/db/open.ts";
import { files } from "../../storage/db/schema.ts";
import type { DocumentChunks } from "./document-chunks.ts";
import type { FileRows } from "./file-rows.ts";
import type { FileRow as Row } from "./row.ts";

// Each file takes a chunk along: 4 MB in 2 ms, so that the next write waits only milliseconds.
const filesPerWrite = 16;
const chunksPerWrite = 200;
const pause_ms = 5;

/** Erases deleted and expired files in small writes. */
export function createFileErasure({
  db,
  rows,
  blobs,
  chunks,
  memory,
  now,
}: {
  db: Db;
  rows: FileRows;
  blobs: FileBlobs;
  chunks: DocumentChunks;
  /** Removes a file's entries from memory stores. */
  memory: { forget(scope: Scope, id: string): void };
  now: () => number;
}) {
  const expired = db.orm
    .select()
    .from(files)
    .where(lte(files.expires_at_ms, sql.placeholder("now")))
    .orderBy(files.expires_at_ms)
    .limit(sql.placeholder("most"))
    .prepare();
  let collecting: Promise<void> | null = null;
  let stopped = false;

  /** Deletes a file, or up to `most` of its chunks, and returns the number of deleted rows. Call inside a write. */
  function erase(row: Row, most: number): number {
    const cleared = chunks.clear(row, row.id, most);
    if (cleared === most) return cleared;
    rows.remove(row, row.id);
    blobs.release(row, row.sha256);
    return cleared + 1;
  }

  /** Hides a file at once; a long document's remaining chunks are deleted later. Call inside a write. */
  function remove(row: Row): void {
    memory.forget(row, row.id);
    rows.update(row, row.id, { expires_at_ms: 0 });
    erase(row, chunksPerWrite);
  }

  /** Deletes rows of expired files and returns their number. Call inside a write. */
  function forgetExpired(limit: number): number {
    const most = Math.min(limit, chunksPerWrite);
    let count = 0;
    for (const row of expired.all({ now: now(), most: Math.min(limit, filesPerWrite) })) {
      memory.forget(row, row.id);
      if (count < most) count += erase(row, most - count);
    }
    return count;
  }

  /** Starts deleting the remaining rows in the background. After a failure the next sweep continues. */
  function collectSoon(): void {
    collecting ??= collect()
      .catch(() => {})
      .finally(() => {
        collecting = null;
        if (!stopped) blobs.collectSoon();
      });
  }

  async function collect(): Promise<void> {
    while (!stopped && (await db.write(() => forgetExpired(chunksPerWrite))) > 0) await Bun.sleep(pause_ms);
  }

  return {
    remove,
    collectSoon,
    forgetExpired,
    /** For tests: resolves when no deletion is in progress. */
    idle: async (): Promise<void> => void (await collecting),
    /** Stops after the current write. The next sweep deletes the rest. */
    async stop(): Promise<void> {
      stopped = true;
      await collecting;
    },
  };
}

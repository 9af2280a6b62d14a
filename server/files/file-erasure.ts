import { lte, sql } from "drizzle-orm";
import type { Scope } from "../core/scope.ts";
import type { FileBlobs } from "../db/file-blobs.ts";
import type { Db } from "../db/open.ts";
import { files } from "../db/schema.ts";
import type { DocumentChunks } from "./document-chunks.ts";
import type { FileRows } from "./file-rows.ts";
import type { FileRow as Row } from "./row.ts";

// Each takes a chunk along: 4 MB in 2 ms, so that those who wait for the next write wait for milliseconds.
const filesPerWrite = 16;
const chunksPerWrite = 200;
const pause_ms = 5;

/** Erases files that were deleted, and those whose time is up, a piece a write. */
export function createFileErasure({
  db,
  rows,
  blobs,
  chunks,
  memory,
  now,
}: {
  db: Db;
  rows: Pick<FileRows, "remove" | "update">;
  blobs: Pick<FileBlobs, "release" | "collectSoon">;
  chunks: Pick<DocumentChunks, "clear">;
  /** What stores have of a file goes with it. */
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

  /** Within a write: deletes a file, or as much of its text as `most`. Returns how many rows went. */
  function erase(row: Row, most: number): number {
    const cleared = chunks.clear(row, row.id, most);
    if (cleared === most) return cleared;
    rows.remove(row, row.id);
    blobs.release(row, row.sha256);
    return cleared + 1;
  }

  /** Within a write: nobody finds it any more. What a long document has goes later. */
  function remove(row: Row): void {
    memory.forget(row, row.id);
    rows.update(row, row.id, { expires_at_ms: 0 });
    erase(row, chunksPerWrite);
  }

  /** Within a write: deletes some of what files have whose time is up. Returns how many rows those were. */
  function forgetExpired(limit: number): number {
    const most = Math.min(limit, chunksPerWrite);
    let count = 0;
    for (const row of expired.all({ now: now(), most: Math.min(limit, filesPerWrite) })) {
      memory.forget(row, row.id);
      if (count < most) count += erase(row, most - count);
    }
    return count;
  }

  /** What a write could not delete now is deleted by a later sweep. */
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
    /** For tests: answers when nothing that was deleted goes any more. */
    idle: async (): Promise<void> => void (await collecting),
    /** Ends after the write in flight; what is left is for the next sweep. */
    async stop(): Promise<void> {
      stopped = true;
      await collecting;
    },
  };
}

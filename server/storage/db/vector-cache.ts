import { rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** Folder beside the database that caches the vectors in their searchable form for the next start. */
export const vectorCacheFolder = (database: string): string => join(dirname(database), "vectors");

/** Deletes the cache. Call it before another database replaces this one: rows missing in the cache are never found. */
export const deleteVectorCache = (database: string): void =>
  rmSync(vectorCacheFolder(database), { recursive: true, force: true });

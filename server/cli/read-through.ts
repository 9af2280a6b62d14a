import { Database } from "bun:sqlite";
import { openDataDir } from "../db/data-dir.ts";
import { DamageFound, readThrough } from "../db/read-through.ts";

/** What the server's child found. */
export interface ReadThrough {
  rows: number;
  fault: string | null;
}

// A tenth of the time: nobody shall notice.
const rest = 9;

/** Reads the database of a data directory through, and rests after each slice. */
export async function readSlowly(dataDir: string): Promise<ReadThrough> {
  const { database } = openDataDir(dataDir, { lock: false, create: false });
  const sqlite = new Database(database, { readonly: true });
  let rows = 0;
  try {
    sqlite.run("PRAGMA busy_timeout = 5000");
    sqlite.run("PRAGMA cache_size = -2048");
    let begun = performance.now();
    for (rows of readThrough(sqlite)) {
      await Bun.sleep((performance.now() - begun) * rest);
      begun = performance.now();
    }
    return { rows, fault: null };
  } catch (error) {
    if (error instanceof DamageFound) return { rows, fault: error.message };
    throw error;
  } finally {
    sqlite.close();
  }
}

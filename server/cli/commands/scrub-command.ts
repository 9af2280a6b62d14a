import { Database } from "bun:sqlite";
import { openDataDir } from "../../storage/db/data-dir.ts";
import { CorruptionError, scrub } from "../../storage/db/scrub.ts";

/** Result of the scrub in the server's child process. */
export interface ScrubResult {
  rows: number;
  fault: string | null;
}

// Works a tenth of the time, so that the server is not slowed down.
const rest = 9;

/** Scrubs the database of a data directory, with a pause after each slice. */
export async function runScrub(dataDir: string): Promise<ScrubResult> {
  const { database } = openDataDir(dataDir, { lock: false, create: false });
  const sqlite = new Database(database, { readonly: true });
  let rows = 0;
  try {
    sqlite.run("PRAGMA busy_timeout = 5000");
    sqlite.run("PRAGMA cache_size = -2048");
    let startedAt = performance.now();
    for (rows of scrub(sqlite)) {
      await Bun.sleep((performance.now() - startedAt) * rest);
      startedAt = performance.now();
    }
    return { rows, fault: null };
  } catch (error) {
    if (error instanceof CorruptionError) return { rows, fault: error.message };
    throw error;
  } finally {
    sqlite.close();
  }
}

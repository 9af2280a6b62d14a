import type { Log } from "../../lib/log.ts";
import { addWords, dropFormerWords, formerStores } from "../../runtime/retrieval/vector-search/tables.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Write } from "./indexer-chunks.ts";

// Most chunks per write, so that the next write waits only milliseconds.
const chunksPerWrite = 32;
const pause_ms = 5;

/**
 * Reindexes the words of stores from earlier versions. The former index is searched and maintained until a store is
 * complete. The progress is stored in the tables.
 */
export function createWordUpgrade({ db, write, signal, log }: { db: Db; write: Write; signal: AbortSignal; log: Log }) {
  const { sqlite } = db;
  const next = sqlite.query<{ number: number; text: string }, { store: number; from: number }>(
    `SELECT number, text FROM memory_chunks WHERE store = $store AND generation > 0 AND number > $from
     ORDER BY number LIMIT ${chunksPerWrite}`,
  );
  let upgrading: Promise<void> | null = null;

  async function upgrade(): Promise<void> {
    for (const store of formerStores(sqlite)) {
      // Chunks that are added meanwhile go to both indexes.
      for (let at: number | undefined = 0; at !== undefined; await Bun.sleep(pause_ms)) {
        const from: number = at;
        at = await write(() => {
          const chunks = next.all({ store, from });
          addWords(sqlite, store, chunks);
          return chunks.at(-1)?.number;
        });
      }
      await write(() => dropFormerWords(sqlite, store));
      log.info("the words of a memory store were indexed anew", { store });
    }
  }

  return {
    start(): void {
      upgrading ??= upgrade().catch((error) => {
        if (!signal.aborted) log.error("the words of memory stores could not be indexed anew", { error });
      });
    },
    idle: async (): Promise<void> => void (await upgrading),
  };
}

import type { Database } from "bun:sqlite";

/**
 * One read transaction for everything that is read in one tick: a statement alone pays for the locks of a transaction of
 * its own, which cost more than the reading. It ends with the tick, so nobody reads what was true before they asked, and
 * it must have ended before a write begins.
 */
export interface Snapshot {
  begin(): void;
  end(): void;
}

export function createSnapshot(sqlite: Database): Snapshot {
  const [beginRead, endRead] = ["BEGIN", "COMMIT"].map((sql) => sqlite.query(sql));
  let open = false;

  function begin(): void {
    if (open || sqlite.inTransaction) return;
    beginRead!.run();
    open = true;
    setImmediate(end);
  }

  function end(): void {
    if (!open) return;
    open = false;
    // An error of the storage has ended it already.
    if (sqlite.inTransaction) endRead!.run();
  }

  return { begin, end };
}

import type { Database } from "bun:sqlite";

/** One read transaction for everything that is read in one tick. It must have ended before a write begins. */
export function createSnapshot(sqlite: Database) {
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
    endRead!.run();
  }

  return { begin, end };
}

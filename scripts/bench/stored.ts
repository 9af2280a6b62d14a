import { Database } from "bun:sqlite";
import { newId } from "../../server/domain/ids.ts";

const batch = 10_000;

/**
 * Fills a database with copies of its newest run, journal included, under ids of the past, like those of a server long
 * in use. The server may be running, and must be idle.
 */
export function storeRuns(path: string, count: number): void {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 60000");
  db.run("PRAGMA synchronous = OFF");
  const model = db.query<{ id: string }, []>("SELECT id FROM runs WHERE status = 'completed' ORDER BY id DESC").get()!;
  const columns = (table: string, but: string) =>
    db
      .query<{ name: string }, []>(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => name)
      .filter((name) => name !== but)
      .join(", ");
  const copy = (table: string, id: string) =>
    db.query(
      `INSERT INTO ${table} (${id}, ${columns(table, id)}) SELECT ?, ${columns(table, id)} FROM ${table} WHERE ${id} = ?`,
    );
  const copies = [copy("runs", "id"), copy("run_events", "run_id"), copy("run_blobs", "run_id")];
  const last = Date.now() - 3_600_000;
  const fill = db.transaction((from: number, to: number) => {
    for (let index = from; index < to; index++) {
      const id = newId("run", last - (count - index) * 50);
      for (const each of copies) each.run(id, model.id);
    }
  });
  for (let from = 0; from < count; from += batch) {
    fill.immediate(from, Math.min(count, from + batch));
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  db.run("PRAGMA optimize");
  db.close();
}

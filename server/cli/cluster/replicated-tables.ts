import type { Log } from "../../lib/log.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Directory } from "../../storage/replication/directory.ts";

/**
 * Tables without a project that every cell needs: model connections with their tokens, and prices. Each arrives by
 * itself: a grant names the client that it is for, because its connection may be of another moment.
 */
const shared = ["model_connections", "model_connection_grants", "model_prices", "model_price_table"] as const;

const every_ms = 1000;

interface SharedTablesOptions {
  /** The cell in which they are changed. */
  first: string;
  own: string;
  epoch: number;
  db: Db;
  directory: Pick<Directory, "ask">;
  /** Settles once what was read until now may be told. */
  settled(): Promise<void>;
  log: Log;
}

/**
 * Replicates the tables from the first cell: its leader writes whole tables to Postgres, and the other leaders read
 * them. Resolves once this cell has the current ones.
 */
export async function replicateTables(
  { first, own, epoch, db, directory, settled, log }: SharedTablesOptions,
  every = every_ms,
): Promise<() => void> {
  const { sqlite } = db;
  const appliedSums = new Map<string, string>();
  let isRunning = false;
  if (own === first) {
    sqlite.run("CREATE TEMP TABLE changed_shared (name TEXT PRIMARY KEY)");
    for (const table of shared)
      for (const event of ["INSERT", "UPDATE", "DELETE"])
        sqlite.run(
          `CREATE TEMP TRIGGER shared_${table}_${event} AFTER ${event} ON main.${table}
           BEGIN DELETE FROM changed_shared WHERE name = '${table}'; INSERT INTO changed_shared (name) VALUES ('${table}'); END`,
        );
  }

  /** Publishes a table; on failure marks it as changed again, for a retry. */
  async function publish(table: string): Promise<void> {
    await db.write(() => sqlite.query("DELETE FROM changed_shared WHERE name = ?").run(table));
    await publishOnce(table).catch(async (error) => {
      await db.write(() => sqlite.query("INSERT OR IGNORE INTO changed_shared (name) VALUES (?)").run(table));
      throw error;
    });
  }

  async function publishOnce(table: string): Promise<void> {
    const columns = sqlite.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)").all(table);
    const names = columns.map(({ name }) => name).join(", ");
    const rows = JSON.stringify(sqlite.query(`SELECT ${names} FROM ${table}`).all());
    await settled();
    // Fenced by the epoch: no write after another node has claimed the cell.
    await directory.ask((sql) =>
      sql.unsafe(
        `INSERT INTO runnel_shared (cell, name, rows) SELECT id, $2, $3 FROM runnel_cells WHERE id = $1 AND epoch = $4
         ON CONFLICT (cell, name) DO UPDATE SET rows = excluded.rows`,
        [own, table, rows, epoch],
      ),
    );
  }

  async function pull(): Promise<void> {
    // The rows may be long, and rarely change.
    const tables: { name: string; sum: string }[] = await directory.ask(
      (sql) => sql`SELECT name, md5(rows) AS sum FROM runnel_shared WHERE cell = ${first}`,
    );
    for (const { name, sum } of tables) {
      if (appliedSums.get(name) === sum || !shared.some((table) => table === name)) continue;
      const [found]: { rows: string; sum: string }[] = await directory.ask(
        (sql) => sql`SELECT rows, md5(rows) AS sum FROM runnel_shared WHERE cell = ${first} AND name = ${name}`,
      );
      if (!found) continue;
      await db.write(() => replaceRows(name, JSON.parse(found.rows)));
      appliedSums.set(name, found.sum);
    }
  }

  /** Call it inside a write. */
  function replaceRows(table: string, rows: Record<string, string | number | null>[]): void {
    sqlite.run(`DELETE FROM ${table}`);
    for (const row of rows) {
      const names = Object.keys(row);
      sqlite
        .query(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`)
        .run(...Object.values(row));
    }
  }

  async function sync(): Promise<void> {
    if (own !== first) return await pull();
    const changed = sqlite.query<{ name: string }, []>("SELECT name FROM changed_shared").all();
    for (const { name } of changed) await publish(name);
  }

  if (own === first) for (const table of shared) await publish(table);
  else await pull();
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    await sync().catch((error) => log.warn("what all cells share could not be brought to them", { error }));
    isRunning = false;
  }, every).unref();
  return () => clearInterval(timer);
}

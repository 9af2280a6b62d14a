import type { SQL } from "bun";
import { ClusterError } from "./cluster-error.ts";
import { codeOf } from "./postgres-client.ts";

/**
 * Tables in Postgres. A cell is one database with one leader. `runnel_log` has the commits after `base`, each row one
 * or several, and `runnel_pages` the compacted state up to it. The row of a cell changes often: it has free space in
 * its page, so that its index need not change. The last table is the newest.
 */
const tables = [
  `CREATE TABLE IF NOT EXISTS runnel_cells (
    id text PRIMARY KEY, leader text NOT NULL, address text NOT NULL, certificate text NOT NULL, epoch bigint NOT NULL,
    lease_until timestamptz NOT NULL, head bigint NOT NULL, base bigint NOT NULL, base_epoch bigint NOT NULL,
    master_key_id text NOT NULL, version bigint NOT NULL
  ) WITH (fillfactor = 20)`,
  `CREATE TABLE IF NOT EXISTS runnel_log (
    cell text, seq bigint, epoch bigint NOT NULL, frames bytea NOT NULL, PRIMARY KEY (cell, seq))`,
  `CREATE TABLE IF NOT EXISTS runnel_pages (
    cell text, page bigint, image bytea NOT NULL, PRIMARY KEY (cell, page))`,
  `CREATE TABLE IF NOT EXISTS runnel_nodes (
    cell text, name text, seen_at timestamptz NOT NULL, applied bigint NOT NULL, PRIMARY KEY (cell, name))`,
  // Projects, by which requests find their cell.
  `CREATE TABLE IF NOT EXISTS runnel_projects (
    id text PRIMARY KEY, cell text NOT NULL, name text NOT NULL, is_open boolean NOT NULL)`,
  "CREATE INDEX IF NOT EXISTS runnel_projects_by_cell ON runnel_projects (cell)",
  // Whole tables of the first cell, as JSON, for the other cells.
  "CREATE TABLE IF NOT EXISTS runnel_shared (cell text, name text, rows text NOT NULL, PRIMARY KEY (cell, name))",
  "CREATE TABLE IF NOT EXISTS runnel_routes (name text PRIMARY KEY, project text NOT NULL)",
  "CREATE INDEX IF NOT EXISTS runnel_routes_by_project ON runnel_routes (project)",
  // Projects in transfer to another cell.
  `CREATE TABLE IF NOT EXISTS runnel_moves (
    id text PRIMARY KEY, project text NOT NULL, name text NOT NULL, source text NOT NULL, target text NOT NULL,
    state text NOT NULL, epoch bigint NOT NULL)`,
  // The values are compressed already.
  "ALTER TABLE runnel_log ALTER frames SET STORAGE EXTERNAL",
  "ALTER TABLE runnel_pages ALTER image SET STORAGE EXTERNAL",
];
const columns = "id, leader, address, certificate, epoch, lease_until, head, base, base_epoch, master_key_id, version";

/** Creates missing tables. Throws `ClusterError` if tables with these names have other columns. */
export async function makeTables(sql: SQL): Promise<void> {
  const [{ there }] = await sql.unsafe("SELECT to_regclass('runnel_moves') IS NOT NULL AS there");
  if (!there) for (const table of tables) await makeOnce(sql, table);
  try {
    await sql.unsafe(`SELECT ${columns} FROM runnel_cells LIMIT 0`);
  } catch (error) {
    if (codeOf(error) !== "42703") throw error;
    throw new ClusterError(
      "The engine has tables named runnel_… of another version of runnel. Give a database of its own.",
    );
  }
}

/** Creates a table, with retries: if nodes start together, all but one of these statements fail. */
async function makeOnce(sql: SQL, statement: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await sql.unsafe(statement);
      return;
    } catch (error) {
      if (tries === 5) throw error;
      await Bun.sleep(50 * tries);
    }
  }
}

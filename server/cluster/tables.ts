import type { SQL } from "bun";
import { ClusterError } from "./cluster-error.ts";
import { codeOf } from "./engine.ts";

/**
 * What stands in the engine. A cell is one database with one leader. `runnel_log` has what was committed after `base`, a
 * row for one or several commits, and `runnel_pages` all before it, compacted. Much is changed in the row of a cell: it
 * has room in its page, so that no index follows. The last table is the newest.
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
  // Where requests find their project.
  `CREATE TABLE IF NOT EXISTS runnel_projects (
    id text PRIMARY KEY, cell text NOT NULL, name text NOT NULL, is_open boolean NOT NULL)`,
  "CREATE INDEX IF NOT EXISTS runnel_projects_by_cell ON runnel_projects (cell)",
  // Whole tables of a first cell, as JSON, for the other cells.
  "CREATE TABLE IF NOT EXISTS runnel_shared (cell text, name text, rows text NOT NULL, PRIMARY KEY (cell, name))",
  "CREATE TABLE IF NOT EXISTS runnel_routes (name text PRIMARY KEY, project text NOT NULL)",
  "CREATE INDEX IF NOT EXISTS runnel_routes_by_project ON runnel_routes (project)",
  // Projects on their way to another cell.
  `CREATE TABLE IF NOT EXISTS runnel_moves (
    id text PRIMARY KEY, project text NOT NULL, name text NOT NULL, source text NOT NULL, target text NOT NULL,
    state text NOT NULL, epoch bigint NOT NULL)`,
  // They are compressed already.
  "ALTER TABLE runnel_log ALTER frames SET STORAGE EXTERNAL",
  "ALTER TABLE runnel_pages ALTER image SET STORAGE EXTERNAL",
];
const columns = "id, leader, address, certificate, epoch, lease_until, head, base, base_epoch, master_key_id, version";

/** Makes what is missing. Throws `ClusterError` where tables of these names are another program's. */
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

/** Nodes that start together make them at once, and all but one of them are refused. */
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

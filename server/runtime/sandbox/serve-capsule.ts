import { Database } from "bun:sqlite";
import { capsuleId, capsuleLimits, capsuleTables, capsuleVersion, sqliteMagic } from "../../domain/capsule-format.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import { batchSize, createBatches, serveContent } from "./child-output.ts";
import type { DropPrivileges } from "./drop-privileges.ts";

/** A row of a capsule as sent by the child, in this order: agents, then each run with its entries. */
type CapsuleRow =
  | ["agent", hash: string, snapshot: string]
  | ["run", run_id: string, parent_run_id: string | null, agent_hash: string]
  | ["entry", seq: number, at_ms: number, event: string]
  /** Continuation of the previous event. */
  | ["more", event: string];

/** An error of the capsule; its message is shown to the person who sent it. */
class CapsuleFault extends Error {}

/** Runs a child that reads one capsule: writes its rows and exits. */
export const serveCapsule = (dropPrivileges: DropPrivileges): Promise<never> =>
  serveContent(dropPrivileges, (bytes) => ({ error: faultOf(bytes) }));

function faultOf(bytes: Uint8Array): string | null {
  try {
    const rows = createBatches<CapsuleRow>("rows");
    for (const row of rowsOf(open(bytes))) rows.add(row, lengthOf(row));
    rows.flush();
    return null;
  } catch (error) {
    return error instanceof CapsuleFault ? error.message : "The file is damaged.";
  }
}

const lengthOf = (row: CapsuleRow): number => 64 + (typeof row.at(-1) === "string" ? String(row.at(-1)).length : 0);

function open(bytes: Uint8Array): Database {
  if (new TextDecoder("latin1").decode(bytes.subarray(0, sqliteMagic.length)) !== sqliteMagic)
    throw new CapsuleFault("This is not an SQLite file.");
  // These bytes lack what is still in a separate log.
  if (bytes[18] !== 1 || bytes[19] !== 1) throw new CapsuleFault("The file is not a capsule: it has its own log.");
  const sqlite = Database.deserialize(bytes, { strict: true });
  // Before anything reads the schema, which may be hostile.
  for (const pragma of ["trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "temp_store = MEMORY"])
    sqlite.run(`PRAGMA ${pragma}`);
  checkFormat(sqlite);
  const [{ quick_check } = { quick_check: "" }] = sqlite
    .query<{ quick_check: string }, []>("PRAGMA quick_check(1)")
    .all();
  if (quick_check !== "ok") throw new CapsuleFault("The file is damaged.");
  return sqlite;
}

/** Requires exactly the schema of the format: without views, triggers and virtual tables nothing hostile can run. */
function checkFormat(sqlite: Database): void {
  if (pragmaOf(sqlite, "application_id") !== capsuleId) throw new CapsuleFault("The file is not a capsule.");
  const version = pragmaOf(sqlite, "user_version");
  if (version !== capsuleVersion)
    throw new CapsuleFault(`The capsule has the format ${version}; this version of runnel reads ${capsuleVersion}.`);
  const own = new Database(":memory:");
  for (const table of capsuleTables) own.run(table);
  if (schemaOf(sqlite) !== schemaOf(own)) throw new CapsuleFault("The file's tables are not those of a capsule.");
  own.close();
}

const pragmaOf = (sqlite: Database, name: string): unknown =>
  Object.values(sqlite.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get() ?? {})[0];

const schemaOf = (sqlite: Database): string =>
  JSON.stringify(
    sqlite.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name LIMIT 100").all(),
  );

interface RunRow {
  run_id: string;
  parent_run_id: string | null;
  agent_hash: string;
}

function* rowsOf(sqlite: Database): Generator<CapsuleRow> {
  checkSize(sqlite);
  const agents = sqlite.query<{ hash: string; snapshot: string }, []>("SELECT hash, snapshot FROM agents");
  for (const { hash, snapshot } of agents.all()) yield ["agent", text(hash), text(snapshot)];
  const runs = sqlite.query<RunRow, []>("SELECT run_id, parent_run_id, agent_hash FROM runs ORDER BY position");
  const entries = sqlite.query<{ seq: number; at_ms: number; event: string }, [string]>(
    "SELECT seq, at_ms, event FROM entries WHERE run_id = ? ORDER BY seq",
  );
  for (const { run_id, parent_run_id, agent_hash } of runs.all()) {
    yield ["run", text(run_id), parent_run_id === null ? null : text(parent_run_id), text(agent_hash)];
    for (const { seq, at_ms, event } of entries.iterate(run_id)) {
      yield ["entry", count(seq), count(at_ms), text(event).slice(0, batchSize)];
      for (let from = batchSize; from < event.length; from += batchSize)
        yield ["more", event.slice(from, from + batchSize)];
    }
  }
}

/** Checks sizes before any value is read in full. */
function checkSize(sqlite: Database): void {
  const most = (sql: string, limit: number, what: string) => {
    const { n } = onlyRow(sqlite.query<{ n: number | null }, []>(sql).get());
    if (typeof n === "number" && n > limit) throw new CapsuleFault(`The capsule has more than ${limit} ${what}.`);
  };
  const { runs, agents, entries, event_bytes, agent_bytes, record_bytes } = capsuleLimits;
  most("SELECT count(*) AS n FROM runs", runs, "runs");
  most("SELECT count(*) AS n FROM agents", agents, "agents");
  most("SELECT count(*) AS n FROM entries", entries, "entries");
  most("SELECT max(octet_length(event)) AS n FROM entries", event_bytes, "bytes in an entry");
  most("SELECT max(octet_length(snapshot)) AS n FROM agents", agent_bytes, "bytes in an agent");
  most(
    `SELECT (SELECT coalesce(sum(octet_length(event)), 0) FROM entries)
       + (SELECT coalesce(sum(octet_length(snapshot)), 0) FROM agents) AS n`,
    record_bytes,
    "bytes of entries and agents",
  );
}

/** Checks the type, because a hostile database need not enforce its declared types. */
function text(value: unknown): string {
  if (typeof value !== "string") throw new CapsuleFault("The file is damaged.");
  return value;
}

function count(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new CapsuleFault("The file is damaged.");
  return value;
}

import type { SQL } from "bun";
import { isOwnHost } from "../../lib/ip-address.ts";
import { ClusterError } from "./cluster-error.ts";
import { requirePostgres } from "./postgres-client.ts";
import { type MoveStatus, readMoves } from "./project-transfer.ts";
import { makeTables } from "./tables.ts";

/** Status of a cell in Postgres. */
export interface CellStatus {
  cell: string;
  /** Null if the cell has no leader. */
  leader: string | null;
  address: string | null;
  /** Milliseconds left of the leader's lease; null if there is no leader. */
  lease_ms: number | null;
  /** Number of times that a node has claimed it. */
  epoch: number;
  /** The newest row of its log. */
  head: number;
  log: { rows: number; bytes: number };
  pages: { pages: number; bytes: number };
  /** Nodes that follow the cell; `behind` is in rows. */
  spares: { name: string; behind: number }[];
  /** Projects of the cell. */
  projects: { id: string; name: string }[];
}

/** Properties of a Postgres that decide whether acknowledged commits survive. */
interface EngineStatus {
  /** Number of standbys that a commit waits for; null if unknown. */
  synchronous_standbys: number | null;
  /** Median duration of some commits. */
  commit_ms: number;
  /** True if the connection is encrypted; null on this machine or if unknown. */
  encrypted: boolean | null;
}

// A spare reports every two seconds.
const seen_s = 10;

/** Returns all cells, and transfers between them. Throws `ClusterError` if Postgres is unavailable. */
export const readCluster = (url: string): Promise<{ cells: CellStatus[]; moves: MoveStatus[] }> =>
  queryAt(url, async (sql) => ({ cells: await readCells(sql), moves: await readMoves(sql) }));

export async function readCells(sql: SQL): Promise<CellStatus[]> {
  const spares = await sql.unsafe(
    `SELECT cell, name, applied FROM runnel_nodes WHERE seen_at > clock_timestamp() - interval '${seen_s} s' ORDER BY name`,
  );
  const projects = await sql.unsafe("SELECT id, cell, name FROM runnel_projects ORDER BY name, id");
  const rows = await sql.unsafe(
    `SELECT id, leader, address, epoch, head, lease_until > clock_timestamp() AS led,
         CASE WHEN lease_until > clock_timestamp()
           THEN (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::bigint END AS lease_ms,
         (SELECT count(*) FROM runnel_log WHERE cell = id) AS log_rows,
         (SELECT coalesce(sum(length(frames)), 0) FROM runnel_log WHERE cell = id) AS log_bytes,
         (SELECT count(*) FROM runnel_pages WHERE cell = id) AS pages,
         (SELECT coalesce(sum(length(image)), 0) FROM runnel_pages WHERE cell = id) AS pages_bytes
       FROM runnel_cells ORDER BY id`,
  );
  return rows.map((row: Record<string, unknown>) => ({
    cell: row.id as string,
    leader: row.led ? (row.leader as string) : null,
    address: row.led ? (row.address as string) : null,
    lease_ms: row.lease_ms === null ? null : Number(row.lease_ms),
    epoch: Number(row.epoch),
    head: Number(row.head),
    log: { rows: Number(row.log_rows), bytes: Number(row.log_bytes) },
    pages: { pages: Number(row.pages), bytes: Number(row.pages_bytes) },
    spares: spares
      .filter(({ cell, name }: Record<string, unknown>) => cell === row.id && !(row.led && name === row.leader))
      .map(({ name, applied }: { name: string; applied: bigint }) => ({
        name,
        behind: Math.max(0, Number(row.head) - Number(applied)),
      })),
    projects: projects
      .filter(({ cell }: { cell: string }) => cell === row.id)
      .map(({ id, name }: { id: string; name: string }) => ({ id, name })),
  }));
}

/**
 * Returns the address of a cell's leader and the certificate that verifies it. Throws `ClusterError` if there is none.
 */
export const findLeader = (url: string, cell: string): Promise<{ address: string; certificate: string }> =>
  queryAt(url, async (sql) => {
    const [row] = await sql.unsafe(
      "SELECT address, certificate FROM runnel_cells WHERE id = $1 AND lease_until > clock_timestamp()",
      [cell],
    );
    if (!row) throw new ClusterError(`No node leads the cell "${cell}" at the moment.`);
    return { address: row.address, certificate: row.certificate };
  });

const commits = 15;

/** Measures commits, and reads how Postgres makes them durable. Throws `ClusterError` if it is unavailable. */
export const examineEngine = (url: string, isHere = isOwnHost): Promise<EngineStatus> =>
  queryAt(url, async (sql, address) => {
    const synchronous_standbys = await standbysOf(sql);
    const encrypted = isHere(new URL(address).hostname) ? null : await isEncrypted(sql);
    const times: number[] = [];
    for (let n = 0; n < commits; n++) {
      const begun = performance.now();
      await sql.unsafe(
        `INSERT INTO runnel_nodes (cell, name, seen_at, applied) VALUES ('', 'doctor', '-infinity', $1)
         ON CONFLICT (cell, name) DO UPDATE SET applied = excluded.applied`,
        [n],
      );
      times.push(performance.now() - begun);
    }
    await sql.unsafe("DELETE FROM runnel_nodes WHERE cell = ''");
    const median = times.sort((a, b) => a - b)[commits >> 1] ?? 0;
    return { synchronous_standbys, commit_ms: Math.round(median * 100) / 100, encrypted };
  });

async function isEncrypted(sql: SQL): Promise<boolean | null> {
  try {
    const [row] = await sql.unsafe("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    return row?.ssl ?? null;
  } catch {
    return null;
  }
}

/** Returns null for a Postgres with its own kind of replication. */
async function standbysOf(sql: SQL): Promise<number | null> {
  try {
    const [setting] = await sql.unsafe("SHOW synchronous_standby_names");
    const [waits] = await sql.unsafe("SHOW synchronous_commit");
    if (setting.synchronous_standby_names === "" || ["off", "local"].includes(waits.synchronous_commit)) return 0;
    const [row] = await sql.unsafe(
      "SELECT count(*) AS n FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')",
    );
    return Number(row.n);
  } catch {
    return null;
  }
}

async function queryAt<T>(url: string, query: (sql: SQL, address: string) => Promise<T>): Promise<T> {
  const address = await requirePostgres(url);
  const sql = new Bun.SQL({ url: address, max: 1, bigint: true, connectionTimeout: 5 });
  try {
    await makeTables(sql);
    return await query(sql, address);
  } finally {
    await sql.close({ timeout: 0 }).catch(() => {});
  }
}

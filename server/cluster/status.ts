import type { SQL } from "bun";
import { isOwnHost } from "../lib/ip-address.ts";
import { ClusterError } from "./cluster-error.ts";
import { requireEngine } from "./engine.ts";
import { type MoveStatus, readMoves } from "./moves.ts";
import { makeTables } from "./tables.ts";

/** A cell as it stands in the engine. */
export interface CellStatus {
  cell: string;
  /** Null when nobody leads it. */
  leader: string | null;
  address: string | null;
  /** What is left of its leader's lease; null when nobody leads it. */
  lease_ms: number | null;
  /** How often a node has taken it. */
  epoch: number;
  /** The newest row of its log. */
  head: number;
  log: { rows: number; bytes: number };
  pages: { pages: number; bytes: number };
  /** Nodes that follow; so many rows they are behind. */
  spares: { name: string; behind: number }[];
  /** Kept there. */
  projects: { id: string; name: string }[];
}

/** What of an engine decides whether it keeps what it has acknowledged. */
interface EngineStatus {
  /** Standbys that a commit waits for; null where the engine does not say. */
  synchronous_standbys: number | null;
  /** Of a commit: the median of some. */
  commit_ms: number;
  /** Whether the connection is encrypted; null on this machine, and where the engine does not tell. */
  encrypted: boolean | null;
}

// A spare says every two seconds that it is there.
const seen_s = 10;

/** All cells of an engine, and projects on their way between them. Throws `ClusterError` when it cannot be asked. */
export const readCluster = (url: string): Promise<{ cells: CellStatus[]; moves: MoveStatus[] }> =>
  asking(url, async (sql) => ({ cells: await readCells(sql), moves: await readMoves(sql) }));

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

/** Where the leader of a cell is reached, and what its certificate is verified by. Throws `ClusterError` when there is none. */
export const findLeader = (url: string, cell: string): Promise<{ address: string; certificate: string }> =>
  asking(url, async (sql) => {
    const [row] = await sql.unsafe(
      "SELECT address, certificate FROM runnel_cells WHERE id = $1 AND lease_until > clock_timestamp()",
      [cell],
    );
    if (!row) throw new ClusterError(`Nobody leads the cell "${cell}" at the moment.`);
    return { address: row.address, certificate: row.certificate };
  });

const commits = 15;

/** Asks an engine how it commits, and times some. Throws `ClusterError` when it cannot be asked. */
export const examineEngine = (url: string, isHere = isOwnHost): Promise<EngineStatus> =>
  asking(url, async (sql, address) => {
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
    const median = times.sort((a, b) => a - b)[commits >> 1]!;
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

/** Null of engines that copy in a way of their own. */
async function standbysOf(sql: SQL): Promise<number | null> {
  try {
    const [named] = await sql.unsafe("SHOW synchronous_standby_names");
    const [waits] = await sql.unsafe("SHOW synchronous_commit");
    if (named.synchronous_standby_names === "" || ["off", "local"].includes(waits.synchronous_commit)) return 0;
    const [row] = await sql.unsafe(
      "SELECT count(*) AS n FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')",
    );
    return Number(row.n);
  } catch {
    return null;
  }
}

async function asking<T>(url: string, ask: (sql: SQL, address: string) => Promise<T>): Promise<T> {
  const address = await requireEngine(url);
  const sql = new Bun.SQL({ url: address, max: 1, bigint: true, connectionTimeout: 5 });
  try {
    await makeTables(sql);
    return await ask(sql, address);
  } finally {
    await sql.close({ timeout: 0 }).catch(() => {});
  }
}

import type { SQL } from "bun";
import { ClusterError } from "./cluster-error.ts";
import { createPostgresClient } from "./postgres-client.ts";

/** A project and the cell that serves it. */
interface Place {
  project: string;
  cell: string;
}

/** Address of a node, and the certificate that verifies it; empty for plain HTTP. */
interface NodeAddress {
  address: string;
  certificate: string;
}

interface ClusterProject extends Place {
  name: string;
  is_open: boolean;
}

/** Knowledge of a node about the other cells of its cluster. Its queries throw if Postgres does not answer. */
export interface Directory {
  /** Returns the leader as last seen by this node; null if there is none. */
  leaderOf(cell: string): NodeAddress | null;
  /** Returns the leader as last seen by this node or, if there is none, as Postgres has it now. */
  findLeaderOf(cell: string): Promise<NodeAddress | null>;
  /** Finds the place of a name of `Routes` or of a project id; `fresh` asks Postgres. Returns null if it is unknown. */
  find(name: string, fresh?: boolean): Promise<Place | null>;
  /** Removes a name, or all names of a project, from the cache. */
  forget(name: string): void;
  /** Returns all projects of the cluster's cells. */
  projects(): Promise<ClusterProject[]>;
  /** Returns the led cell with the fewest projects; on a tie, the one with the smallest database. */
  leastLoaded(): Promise<string>;
  /** Runs a query on Postgres once. */
  ask<T>(work: (sql: SQL) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const patience_ms = 5000;
const look_ms = 200;
const maxCached = 20_000;
/** Time that a found place is cached, unless a node corrects it. */
const known_ms = 30_000;
/** Time that an unknown name is cached. It is short, because the name may soon exist: a new chat page, for example. */
const unknown_ms = 1000;

export function createDirectory(url: string, cells: readonly string[]): Directory {
  const engine = createPostgresClient(url, { patience_ms, name: `runnel directory ${cells[0]}` });
  const cachedPlaces = new Map<string, { place: Place | null; until: number }>();
  let leaders = new Map<string, NodeAddress>();
  let pendingRead: Promise<void> | null = null;
  void refresh();
  const timer = setInterval(refresh, look_ms).unref();

  async function ask<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const answer = await engine.attempt(async (sql) => ({ value: await work(sql) }));
    if (!answer) throw new Error(`The engine does not answer: ${engine.fault()}`);
    return answer.value;
  }

  /** Reads the leaders; concurrent calls share one query. */
  function refresh(): Promise<void> {
    pendingRead ??= readLeaders().finally(() => {
      pendingRead = null;
    });
    return pendingRead;
  }

  async function readLeaders(): Promise<void> {
    const rows = await engine.attempt((sql) =>
      sql.unsafe("SELECT id, address, certificate FROM runnel_cells WHERE lease_until > clock_timestamp()"),
    );
    if (rows) leaders = new Map(rows.map(({ id, ...at }: NodeAddress & { id: string }) => [id, at]));
  }

  async function read(name: string): Promise<Place | null> {
    const [row] = await ask((sql) =>
      name.startsWith("proj_")
        ? sql`SELECT id AS project, cell FROM runnel_projects WHERE id = ${name}`
        : sql`SELECT p.id AS project, p.cell FROM runnel_routes r JOIN runnel_projects p ON p.id = r.project
            WHERE r.name = ${name}`,
    );
    // The project may belong to another cluster in the same Postgres database.
    const place: Place | null = row && cells.includes(row.cell) ? { project: row.project, cell: row.cell } : null;
    cachedPlaces.delete(name);
    cachedPlaces.set(name, { place, until: performance.now() + (place ? known_ms : unknown_ms) });
    const [oldest = name] = cachedPlaces.keys();
    if (cachedPlaces.size > maxCached) cachedPlaces.delete(oldest);
    return place;
  }

  return {
    leaderOf: (cell) => leaders.get(cell) ?? null,
    async findLeaderOf(cell) {
      // A query in progress may have begun before there was a leader.
      if (!leaders.has(cell)) await pendingRead;
      if (!leaders.has(cell)) await refresh();
      return leaders.get(cell) ?? null;
    },
    async find(name, fresh = false) {
      const cached = fresh ? undefined : cachedPlaces.get(name);
      return cached && cached.until > performance.now() ? cached.place : await read(name);
    },
    forget(name) {
      cachedPlaces.delete(name);
      // Names that were unknown a moment ago may belong to it, too.
      for (const [cachedName, { place }] of cachedPlaces)
        if (!place || place.project === name) cachedPlaces.delete(cachedName);
    },
    projects: () =>
      ask(
        (sql) =>
          sql.unsafe(
            `SELECT id AS project, cell, name, is_open FROM runnel_projects
             WHERE cell IN (SELECT jsonb_array_elements_text($1::text::jsonb)) ORDER BY id`,
            [JSON.stringify(cells)],
          ) as Promise<ClusterProject[]>,
      ),
    async leastLoaded() {
      const [row] = await ask((sql) =>
        sql.unsafe(
          `SELECT id FROM runnel_cells c
           WHERE lease_until > clock_timestamp() AND id IN (SELECT jsonb_array_elements_text($1::text::jsonb))
           ORDER BY (SELECT count(*) FROM runnel_projects p WHERE p.cell = c.id),
             (SELECT count(*) FROM runnel_pages p WHERE p.cell = c.id), id LIMIT 1`,
          [JSON.stringify(cells)],
        ),
      );
      if (!row) throw new ClusterError("No node leads any cell at the moment.");
      return row.id;
    },
    ask,
    async close() {
      clearInterval(timer);
      await engine.close();
    },
  };
}

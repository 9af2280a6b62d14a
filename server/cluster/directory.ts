import type { SQL } from "bun";
import { ClusterError } from "./cluster-error.ts";
import { createEngine } from "./engine.ts";

/** Where a request belongs. */
interface Place {
  project: string;
  cell: string;
}

/** Where a node is reached, and what its certificate is verified by; empty for plain HTTP. */
interface NodeAddress {
  address: string;
  certificate: string;
}

interface ClusterProject extends Place {
  name: string;
  is_open: boolean;
}

/** What a node knows of the other cells of its cluster. Where the engine says nothing, what asks it throws. */
export interface Directory {
  /** As this node has last seen it. Null while nobody leads it. */
  leaderOf(cell: string): NodeAddress | null;
  /** The same; where this node has seen nobody yet, as the engine has it now. */
  findLeaderOf(cell: string): Promise<NodeAddress | null>;
  /** Where a name of `Routes`, or a project by its id, belongs; `fresh`: as the engine has it now. Null: nobody's. */
  find(name: string, fresh?: boolean): Promise<Place | null>;
  /** What is known of a name, or of all names of a project, is not true any more. */
  forget(name: string): void;
  /** All projects of the cluster's cells. */
  projects(): Promise<ClusterProject[]>;
  /** Of the cells that are led the one with the fewest projects, and of those the smallest. */
  leastLoaded(): Promise<string>;
  /** Asks the engine once. */
  ask<T>(work: (sql: SQL) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const patience_ms = 5000;
const look_ms = 200;
const most = 20_000;
/** So long an answer counts that no other node has corrected. */
const known_ms = 30_000;
/** What is not there may be there soon: a chat page that is opened, say. */
const unknown_ms = 1000;

export function createDirectory(url: string, cells: readonly string[]): Directory {
  const engine = createEngine(url, { patience_ms, name: `runnel directory ${cells[0]}` });
  const found = new Map<string, { place: Place | null; until: number }>();
  let leaders = new Map<string, NodeAddress>();
  let looking: Promise<void> | null = null;
  void look();
  const timer = setInterval(look, look_ms).unref();

  async function ask<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const answer = await engine.attempt(async (sql) => ({ value: await work(sql) }));
    if (!answer) throw new Error(`The engine does not answer: ${engine.fault()}`);
    return answer.value;
  }

  /** One at a time. */
  function look(): Promise<void> {
    looking ??= readLeaders().finally(() => {
      looking = null;
    });
    return looking;
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
    // Of another cluster in this engine.
    const place: Place | null = row && cells.includes(row.cell) ? { project: row.project, cell: row.cell } : null;
    found.delete(name);
    found.set(name, { place, until: performance.now() + (place ? known_ms : unknown_ms) });
    if (found.size > most) found.delete(found.keys().next().value!);
    return place;
  }

  return {
    leaderOf: (cell) => leaders.get(cell) ?? null,
    async findLeaderOf(cell) {
      // What is under way may have begun before there was a leader.
      if (!leaders.has(cell)) await looking;
      if (!leaders.has(cell)) await look();
      return leaders.get(cell) ?? null;
    },
    async find(name, fresh = false) {
      const known = fresh ? undefined : found.get(name);
      return known && known.until > performance.now() ? known.place : await read(name);
    },
    forget(name) {
      found.delete(name);
      // What was unknown a moment ago may be of it, too.
      for (const [known, { place }] of found) if (!place || place.project === name) found.delete(known);
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
      if (!row) throw new ClusterError("Nobody leads any cell at the moment.");
      return row.id;
    },
    ask,
    async close() {
      clearInterval(timer);
      await engine.close();
    },
  };
}

import type { Database } from "bun:sqlite";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Log } from "../../lib/log.ts";
import { ClusterError } from "./cluster-error.ts";
import { now } from "./leader-lease.ts";
import { type Candidate, type CellRow, claim, type Failover, noteSpare, readCell, release } from "./lease.ts";
import { createPostgresClient, type OpenConnection, type PostgresClient, requirePostgres } from "./postgres-client.ts";
import { bootstrap, catchUp, compact, dropUnfinished, type Position } from "./replica.ts";
import { type Routes, reconcileRoutes, watchRoutes } from "./routes.ts";
import { Shipper } from "./shipper.ts";
import { type CellStatus, readCells } from "./status.ts";
import { makeTables } from "./tables.ts";

interface NodeOptions {
  url: string;
  /** Cells that this node may lead, one at a time. The first one has the data without a project. */
  cells: readonly [string, ...string[]];
  candidate: Omit<Candidate, "cell">;
  /** Path of the database. */
  database: string;
  /** Path of the file that marks the database in this folder as a replica. */
  marker: string;
  /**
   * Creates the database if it is missing and migrates it, completely in its file. Asynchronous, so that the lease is
   * renewed meanwhile.
   */
  prepareDatabase(): Promise<void>;
  /** Deletes data derived from the database in the folder, before another database replaces it. */
  forgetMade(): void;
  /** Called when another node leads the cell, or this one can no longer lead it (`fault`). */
  onFenced(cell: string, fault?: unknown): void;
  log: Log;
  /** Opens connections to Postgres; by default with Bun's client. */
  open?: OpenConnection;
}

/** A node that does not lead yet. */
interface Spare {
  /** Resolves once this node leads a cell and has its database. Throws `ClusterError` if it never can. */
  lead(): Promise<Lead>;
  /** Stops claiming cells. */
  stop(): void;
}

/** A cell that this node leads. */
export interface Lead {
  cell: string;
  epoch: number;
  ship: Shipper;
  /** The failover that made this node leader, if the previous leader had gone silent. */
  failover: Failover | null;
  /** Returns all cells in Postgres; null if it does not answer. */
  cells(): Promise<CellStatus[] | null>;
  /** Ships the routes of this database with its commits from now on. Resolves once Postgres has the current ones. */
  route(sqlite: Database): Promise<Routes>;
  /** Waits for the commits, then releases the cell for the next node. */
  leave(): Promise<void>;
}

const headOf = (row: CellRow | null): number => row?.head ?? 0;

/** State of a cell that this node follows. */
interface Followed {
  candidate: Candidate;
  /** Path of the replica. */
  path: string;
  /** The cell's newest row as last seen by this node; 0 for an empty cell. */
  head: number;
  /** The current lease, and its end by this process's own clock unless it is renewed. */
  lease: { until: string; over_at: number } | null;
  /** Position of the replica; null if there is none. */
  at: Position | null;
  /** Time of the last record of this spare in Postgres. */
  noted: number;
}

/** Maximum wait for the response to one statement. */
const patience_ms = 15_000;
/** Maximum wait of a request for a silent Postgres. */
const told_ms = 10_000;
const look_ms = 200;
const note_ms = 2000;
/**
 * Lease during the bootstrap: no other node may begin the cell with less data, even if this one is silent that long.
 */
const begin_ms = 120_000;
/** Patience for each part of a copy; the cell's leader holds its lease meanwhile. */
const copy_ms = 30_000;
/** Rows left in the log for spares to continue from. */
const kept_rows = 500;
const compact_ms = 1000;
const leave_ms = 5000;
const triesMax = 5;
const read_ms = 5000;

/** Joins cells. Throws `ClusterError` for an unsuitable Postgres, key or folder. */
export async function joinCells(options: NodeOptions): Promise<Spare> {
  const { url, cells, candidate, database, log, open } = options;
  await requirePostgres(url, open);
  const engine = createPostgresClient(url, { patience_ms, name: `runnel ${cells[0]}`, open });
  const all = cells.map(
    (cell): Followed => ({
      candidate: { ...candidate, cell },
      path: cells.length === 1 ? database : `${database}.${cell}`,
      head: 0,
      lease: null,
      at: null,
      noted: Number.NEGATIVE_INFINITY,
    }),
  );
  const first = await engine.attempt(async (sql) => {
    await makeTables(sql);
    for (const followed of all) followed.head = headOf(await readCell(sql, followed.candidate));
    return true;
  });
  if (!first) throw new ClusterError(`The engine cannot be used: ${engine.fault()}`);
  let isStopped = false;
  let folder = checkFolder(options, all);

  async function bringForward(followed: Followed): Promise<void> {
    const { cell } = followed.candidate;
    requireCopies();
    followed.at = await engine.attempt((sql, heard) => catchUp(sql, cell, followed.path, followed.at, heard), copy_ms);
    if (!followed.at) log.warn("the copy of the cell could not be brought forward", { cell, fault: engine.fault() });
  }

  /** Checks the folder again, because another node may have created the cell since this one started. */
  function requireCopies(): void {
    if (folder.isCopy) return;
    folder = checkFolder(options, all);
    if (folder.isCopy) for (const each of all) each.at = null;
  }

  async function elected() {
    for (; ; await Bun.sleep(look_ms))
      for (const followed of all) {
        if (isStopped) await new Promise(() => {});
        const won = await look(followed);
        if (won) return { ...won, followed };
      }
  }

  /** Claims the cell if it has no leader; otherwise updates the replica. */
  async function look(followed: Followed) {
    const looked = await engine.attempt(async (sql) => ({ row: await readCell(sql, followed.candidate) }));
    if (!looked) return null;
    const { candidate } = followed;
    const { row } = looked;
    followed.head = headOf(row);
    // Counted from now, which is later than the leader's own count (from before its request).
    if (row && row.lease_until !== followed.lease?.until)
      followed.lease = { until: row.lease_until, over_at: performance.now() + row.lease_ms };
    const { lease } = followed;
    const over = row && lease && performance.now() > lease.over_at ? row.lease_until : null;
    const mayLead = folder.own === null || folder.own === candidate.cell; // A database without any copy must not be given up for another cell.
    if (mayLead && (!row || row.free || over !== null)) {
      const claimed_at = now();
      const won = await engine.attempt((sql) => claim(sql, candidate, over));
      if (won) {
        followed.head = won.head; // Another node may have begun it since.
        return { ...won, claimed_at };
      }
    }
    if (followed.head > 0 && followed.head !== followed.at?.seq) await bringForward(followed);
    if (performance.now() - followed.noted < note_ms) return null;
    await engine.attempt((sql) => noteSpare(sql, candidate, followed.at?.seq ?? 0));
    followed.noted = performance.now();
    return null;
  }

  /** Makes the replica the node's database, and deletes the others. */
  function settleOn(followed: Followed): void {
    if (followed.path === database) return;
    for (const other of all) if (other !== followed) removeDatabase(other.path);
    if (existsSync(followed.path)) {
      removeDatabase(database);
      renameSync(followed.path, database);
    }
    followed.path = database;
    mark(options, followed.candidate.cell, true);
  }

  /** Bootstraps the cell with this node's database. */
  async function begin(followed: Followed, epoch: number): Promise<number> {
    const { cell } = followed.candidate;
    await options.prepareDatabase();
    mark(options, cell, false);
    const at = await engine.attempt((sql, heard) => bootstrap(sql, cell, epoch, database, heard), copy_ms);
    if (!at) throw new Error(`The cell "${cell}" could not be begun: ${engine.fault()}`);
    mark(options, cell, true);
    return at.seq;
  }

  /**
   * Brings the replica to row `head`. Uses one connection, because rows missing on another host of Postgres are not
   * unfinished.
   */
  async function reach(followed: Followed, head: number, epoch: number): Promise<number> {
    const { cell } = followed.candidate;
    requireCopies();
    const end = await retryUntilStopped(async () => {
      const { path, at } = followed;
      followed.at = null;
      return await engine.attempt(async (sql, heard) => {
        const end = await catchUp(sql, cell, path, at, heard);
        if (end.seq < head) await dropUnfinished(sql, cell, epoch, end);
        return end;
      }, copy_ms);
    });
    if (!end) throw new Error(`The copy of the cell "${cell}" could not be brought to row ${head}: ${engine.fault()}`);
    if (end.seq > head) throw new Error(`The copy of the cell "${cell}" ends at row ${end.seq}, and not at ${head}.`);
    return end.seq;
  }

  return {
    stop() {
      isStopped = true;
    },
    async lead() {
      const { epoch, head, failover, claimed_at, followed } = await elected();
      const { cell } = followed.candidate;
      const own = createPostgresClient(url, { patience_ms, name: `runnel ${cell}`, open });
      // A separate client: otherwise it would wait behind a long compaction, and could close the shared connection.
      const looking = createPostgresClient(url, { patience_ms: read_ms, name: `runnel status ${cell}`, open });
      const ship = new Shipper({
        engine: own,
        cell,
        epoch,
        claimed_at,
        path: database,
        patience_ms: told_ms,
        log,
        ttl_ms: candidate.ttl_ms,
        onFenced: (fault) => options.onFenced(cell, fault),
      });
      if (head > 0 || followed.at) settleOn(followed);
      const reached =
        head === 0
          ? await ship.withLongLease(begin_ms, () => begin(followed, epoch))
          : await reach(followed, head, epoch);
      settleOn(followed);
      ship.resume(reached);
      log.info("leads the cell", { cell, epoch, row: reached });
      const stopCompacting = keepCompact(engine, cell, ship);
      return {
        cell,
        epoch,
        ship,
        failover,
        cells: () => looking.attempt(readCells),
        async route(sqlite) {
          const routes = watchRoutes(sqlite);
          const done = await retryUntilStopped(() =>
            engine.attempt((sql) => reconcileRoutes(sql, cell, epoch, routes.all(), routes.leaving())),
          );
          if (!done) throw new Error(`The routes of the cell "${cell}" could not be written: ${engine.fault()}`);
          ship.route(routes);
          return routes;
        },
        async leave() {
          stopCompacting();
          await Promise.race([ship.settled(), Bun.sleep(leave_ms)]);
          ship.stop();
          await own.attempt((sql) => release(sql, cell, epoch), leave_ms);
          await Promise.all([own, engine, looking].map((each) => each.close()));
        },
      };
    },
  };
}

/**
 * Deletes a node's replicas: Postgres has the truth, and a former leader may have commits that it never acknowledged.
 * Never deletes a database that is no replica. Returns true as `isCopy` if the folder is for replicas, which it is not
 * while the cell is empty; `own` is the cell that must begin with the existing database, or null.
 */
function checkFolder(options: NodeOptions, all: readonly Followed[]): { isCopy: boolean; own: string | null } {
  const { database, marker, cells } = options;
  const isEmpty = (cell: string): boolean => all.find((each) => each.candidate.cell === cell)?.head === 0;
  const marked = readMark(marker);
  const cell = marked && cells.includes(marked.cell) ? marked.cell : cells[0];
  if (marked?.planted && isEmpty(cell))
    throw new ClusterError(
      `The engine has nothing of the cell "${cell}", and ${database} is a copy of it. Delete ${marker} to begin the cell with this copy, or give another --data-dir.`,
    );
  if (isEmpty(cell)) return { isCopy: false, own: existsSync(database) ? cell : null };
  if (existsSync(database) && !marked)
    throw new ClusterError(
      `${database} is a database of its own, and the cell "${cell}" has one already. Give another --data-dir.`,
    );
  for (const path of [database, ...all.map((followed) => followed.path)]) removeDatabase(path);
  options.forgetMade();
  mark(options, cell, true);
  return { isCopy: true, own: null };
}

function removeDatabase(path: string): void {
  for (const tail of ["", "-wal", "-shm"]) rmSync(path + tail, { force: true });
}

/** Marks the database in the folder as a replica; `planted` is false while it may be the only copy. */
function mark({ marker }: NodeOptions, cell: string, planted: boolean): void {
  writeFileSync(marker, `${JSON.stringify({ cell, planted })}\n`);
}

const readMark = (marker: string): { cell: string; planted: boolean } | null =>
  existsSync(marker) ? JSON.parse(readFileSync(marker, "utf8")) : null;

/** Retries after a lost connection: the node has claimed the cell, and requests wait for it. */
async function retryUntilStopped<T>(work: () => Promise<T | null>): Promise<T | null> {
  for (let tries = 1; ; tries++) {
    const done = await work();
    if (done !== null || tries === triesMax) return done;
    await Bun.sleep(look_ms);
  }
}

/** Compacts old rows of the log into pages, so that it does not grow and a new node has less to read. */
function keepCompact(engine: PostgresClient, cell: string, ship: Shipper): () => void {
  let isAtIt = false;
  const timer = setInterval(async () => {
    if (isAtIt || ship.isStalled()) return;
    isAtIt = true;
    const { acked, whole } = ship.figures();
    const upto = Math.min(acked - kept_rows, whole);
    const once = () => engine.attempt((sql, heard) => compact(sql, cell, upto, heard), copy_ms);
    while ((upto > 0 && (await once())) || 0) await Bun.sleep(20);
    isAtIt = false;
  }, compact_ms).unref();
  return () => clearInterval(timer);
}

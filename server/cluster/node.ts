import type { Database } from "bun:sqlite";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Log } from "../lib/log.ts";
import { ClusterError } from "./cluster-error.ts";
import { compact, dropUnfinished, follow, type Position, plant } from "./copy.ts";
import { createEngine, type Engine, type OpenConnection, requireEngine } from "./engine.ts";
import { type Candidate, type CellRow, claim, type Failover, noteSpare, readCell, release } from "./lease.ts";
import { type Routes, reconcileRoutes, watchRoutes } from "./routes.ts";
import { createShipper, now, type Shipper } from "./shipper.ts";
import { type CellStatus, readCells } from "./status.ts";
import { makeTables } from "./tables.ts";

interface NodeOptions {
  url: string;
  /** What this node may lead, one at a time. The first one has what is of no project. */
  cells: readonly [string, ...string[]];
  candidate: Omit<Candidate, "cell">;
  /** The file of the database. */
  database: string;
  /** Says that the database in this folder is a node's copy. */
  marker: string;
  /**
   * Makes the database where there is none and brings it forward, all of it in its file. Other work of this thread goes
   * on meanwhile: the lease is renewed.
   */
  prepareDatabase(): Promise<void>;
  /** Deletes what was derived from the database in the folder, before another one replaces it. */
  forgetMade(): void;
  /** Another node leads the cell now, or this one cannot lead it any more (`fault`). */
  onFenced(cell: string, fault?: unknown): void;
  log: Log;
  /** Opens connections to the engine, by itself with Bun's client. */
  open?: OpenConnection;
}

/** A node that is no leader yet. */
interface Spare {
  /** Settles once this node leads a cell and its database is that one's. Throws `ClusterError` when it never will. */
  lead(): Promise<Lead>;
  /** It takes no cell from now on. */
  stop(): void;
}

/** A cell that is led. */
export interface Lead {
  cell: string;
  epoch: number;
  ship: Shipper;
  /** Of the leader before this one, if it had gone silent. */
  failover: Failover | null;
  /** All cells of the engine; null when it does not answer. */
  cells(): Promise<CellStatus[] | null>;
  /**
   * From now on the routes of this database go with its commits. Settles once the engine has those that there are.
   */
  route(sqlite: Database): Promise<Routes>;
  /** Waits for what was committed, and lets the next node have the cell at once. */
  leave(): Promise<void>;
}

const headOf = (row: CellRow | null): number => row?.head ?? 0;

/** A cell as this node follows it. */
interface Followed {
  candidate: Candidate;
  /** The file of the copy. */
  path: string;
  /** The cell's newest row, as this node has last seen it; 0 while the cell has nothing. */
  head: number;
  /** The lease of whoever leads it, and when that is over by this process's own clock, if it is not renewed. */
  lease: { until: string; over_at: number } | null;
  /** Where the copy is; null for none. */
  at: Position | null;
  /** When it was noted that a spare is there. */
  noted: number;
}

/** So long an engine may say nothing to one statement. */
const patience_ms = 15_000;
/** So long a request waits for an engine that says nothing. */
const told_ms = 10_000;
const look_ms = 200;
const note_ms = 2000;
/** Nobody else may begin a cell meanwhile with less than this node has, though it falls silent for so long. */
const begin_ms = 120_000;
/** For each part of a copy: who leads the cell meanwhile keeps it from everybody else. */
const copy_ms = 30_000;
/** What stays in the log for spares to go on from. */
const kept_rows = 500;
const compact_ms = 1000;
const leave_ms = 5000;
const triesMax = 5;
const read_ms = 5000;

/** Takes part in cells. Throws `ClusterError` for an engine, a key or a folder that is not what it should be. */
export async function joinCells(options: NodeOptions): Promise<Spare> {
  const { url, cells, candidate, database, log, open } = options;
  await requireEngine(url, open);
  const engine = createEngine(url, { patience_ms, name: `runnel ${cells[0]}`, open });
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
    followed.at = await engine.attempt((sql, heard) => follow(sql, cell, followed.path, followed.at, heard), copy_ms);
    if (!followed.at) log.warn("the copy of the cell could not be brought forward", { cell, fault: engine.fault() });
  }

  /** The cell may have been created by another node since this one started. */
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

  /** Takes the cell when nobody leads it; else its copy is brought forward. */
  async function look(followed: Followed) {
    const looked = await engine.attempt(async (sql) => ({ row: await readCell(sql, followed.candidate) }));
    if (!looked) return null;
    const { candidate } = followed;
    const { row } = looked;
    followed.head = headOf(row);
    // From now on: its leader counts from before it asked for it.
    if (row && row.lease_until !== followed.lease?.until)
      followed.lease = { until: row.lease_until, over_at: performance.now() + row.lease_ms };
    const over = row && performance.now() > followed.lease!.over_at ? row.lease_until : null;
    const mayLead = folder.own === null || folder.own === candidate.cell; // What nobody has a copy of is not given up for another cell.
    if (mayLead && (!row || row.free || over !== null)) {
      const claimed_at = now();
      const won = await engine.attempt((sql) => claim(sql, candidate, over));
      if (won) {
        followed.head = won.head; // Somebody may have begun it since.
        return { ...won, claimed_at };
      }
    }
    if (followed.head > 0 && followed.head !== followed.at?.seq) await bringForward(followed);
    if (performance.now() - followed.noted < note_ms) return null;
    await engine.attempt((sql) => noteSpare(sql, candidate, followed.at?.seq ?? 0));
    followed.noted = performance.now();
    return null;
  }

  /** From now on the copy is the node's database, and there are no others. */
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

  /** The cell begins with what this node has. */
  async function begin(followed: Followed, epoch: number): Promise<number> {
    const { cell } = followed.candidate;
    await options.prepareDatabase();
    mark(options, cell, false);
    const at = await engine.attempt((sql, heard) => plant(sql, cell, epoch, database, heard), copy_ms);
    if (!at) throw new Error(`The cell "${cell}" could not be begun: ${engine.fault()}`);
    mark(options, cell, true);
    return at.seq;
  }

  /** On one connection: rows that are missing on another host of the engine are not unfinished ones. */
  async function reach(followed: Followed, head: number, epoch: number): Promise<number> {
    const { cell } = followed.candidate;
    requireCopies();
    const end = await insist(async () => {
      const { path, at } = followed;
      followed.at = null;
      return await engine.attempt(async (sql, heard) => {
        const end = await follow(sql, cell, path, at, heard);
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
      const own = createEngine(url, { patience_ms, name: `runnel ${cell}`, open });
      // It would wait behind a long compaction, and give up the connection that both use.
      const looking = createEngine(url, { patience_ms: read_ms, name: `runnel status ${cell}`, open });
      const ship = createShipper({
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
        head === 0 ? await ship.longer(begin_ms, () => begin(followed, epoch)) : await reach(followed, head, epoch);
      settleOn(followed);
      ship.goOn(reached);
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
          const done = await insist(() =>
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
 * A node's copy is thrown away: what is in the engine counts, and a former leader may have more than was ever told of.
 * What is nobody's copy is never touched. Returns whether the folder is for copies, which it is
 * not while the cell has no row, and which cell has to begin with what is there; null for none.
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

/** Says that the database in the folder is a copy; not `planted`, that it may still be the only one. */
function mark({ marker }: NodeOptions, cell: string, planted: boolean): void {
  writeFileSync(marker, `${JSON.stringify({ cell, planted })}\n`);
}

const readMark = (marker: string): { cell: string; planted: boolean } | null =>
  existsSync(marker) ? JSON.parse(readFileSync(marker, "utf8")) : null;

/** Retries after a lost connection: the node has taken the cell, and requests wait for it. */
async function insist<T>(work: () => Promise<T | null>): Promise<T | null> {
  for (let tries = 1; ; tries++) {
    const done = await work();
    if (done !== null || tries === triesMax) return done;
    await Bun.sleep(look_ms);
  }
}

/** Moves old rows of the log into pages, so that it does not grow and a new node has less to read. */
function keepCompact(engine: Engine, cell: string, ship: Shipper): () => void {
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

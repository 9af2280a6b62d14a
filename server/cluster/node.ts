import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Log } from "../lib/log.ts";
import { ClusterError } from "./cluster-error.ts";
import { compact, dropUnfinished, follow, type Position, plant } from "./copy.ts";
import { createEngine, type Engine, requireEngine } from "./engine.ts";
import { type Candidate, type CellRow, claim, noteSpare, readCell, release } from "./lease.ts";
import { createShipper, now, type Shipper } from "./shipper.ts";
import { makeTables } from "./tables.ts";

interface NodeOptions {
  url: string;
  candidate: Candidate;
  /** The file of the database. */
  database: string;
  /** Says that the database in this folder is a node's copy. */
  marker: string;
  /** Makes the database where there is none and brings it forward, all of it in its file. */
  prepareDatabase(): void;
  /** Another node leads the cell that this one leads. */
  onFenced(): void;
  log: Log;
}

/** A node that is no leader yet. */
export interface Spare {
  /** Who leads, as far as is known. */
  leader(): CellRow | null;
  /** Settles once this node leads and its database is the cell's. Throws `ClusterError` when it never will. */
  lead(): Promise<Lead>;
}

/** A cell that is led. */
export interface Lead {
  ship: Shipper;
  /** Waits for what was committed, and lets the next node have the cell at once. */
  leave(): Promise<void>;
}

/** So long an engine may say nothing to one statement. */
const patience_ms = 15_000;
/** So long a request waits for an engine that says nothing. */
const told_ms = 10_000;
const look_ms = 200;
const note_ms = 2000;
/** Migrations of a large database take a while, in which nothing is renewed. */
const upgrade_ms = 120_000;
const follow_ms = 3_600_000;
/** What stays in the log for spares to go on from. */
const kept_rows = 500;
const compact_ms = 1000;
const leave_ms = 5000;

/** Takes part in a cell. Throws `ClusterError` for an engine, a key or a folder that is not what it should be. */
export async function joinCell(options: NodeOptions): Promise<Spare> {
  const { url, candidate, database, log } = options;
  const { cell, ttl_ms } = candidate;
  await requireEngine(url);
  const engine = createEngine(url, { patience_ms, name: `runnel ${cell}` });
  const look = () => engine.attempt(async (sql) => ({ row: await readCell(sql, candidate) }));
  const first = await engine.attempt(async (sql) => {
    await makeTables(sql);
    return { row: await readCell(sql, candidate) };
  });
  if (!first) throw new ClusterError(`The engine cannot be used: ${engine.fault()}`);
  checkFolder(options, first.row);
  let known = first.row;
  let at: Position | null = null;

  async function bringForward(): Promise<void> {
    at = await engine.attempt((sql) => follow(sql, cell, database, at), follow_ms);
    if (!at) log.warn("the copy of the cell could not be brought forward", { cell, fault: engine.fault() });
  }

  async function elected() {
    for (let noted = Number.NEGATIVE_INFINITY; ; await Bun.sleep(look_ms)) {
      const looked = await look();
      if (!looked) continue;
      known = looked.row;
      if (!known || known.free) {
        const isQuick = known?.version === candidate.version && known.head > 0;
        const claimed_at = now();
        const won = await engine.attempt((sql) => claim(sql, { ...candidate, ttl_ms: isQuick ? ttl_ms : upgrade_ms }));
        if (won) return { ...won, claimed_at };
      }
      if (known && known.head > 0 && known.head !== at?.seq) await bringForward();
      if (performance.now() - noted < note_ms) continue;
      await engine.attempt((sql) => noteSpare(sql, candidate, at?.seq ?? 0));
      noted = performance.now();
    }
  }

  /** The cell begins with what this node has. */
  async function begin(epoch: number): Promise<number> {
    options.prepareDatabase();
    mark(options, false);
    at = await engine.attempt((sql) => plant(sql, cell, epoch, database), follow_ms);
    if (!at) throw new Error(`The cell "${cell}" could not be begun: ${engine.fault()}`);
    mark(options, true);
    return at.seq;
  }

  async function reach(head: number, epoch: number): Promise<number> {
    await bringForward();
    const end = at;
    if (!end || end.seq > head)
      throw new Error(`The copy of the cell "${cell}" ends at row ${end?.seq}, and not at ${head}.`);
    if (end.seq === head) return head;
    const dropped = await engine.attempt(async (sql) => ({ done: await dropUnfinished(sql, cell, epoch, end) }));
    if (!dropped)
      throw new Error(`The log of the cell "${cell}" could not be cut at row ${end.seq}: ${engine.fault()}`);
    return end.seq;
  }

  return {
    leader: () => known,
    async lead() {
      const { epoch, head, claimed_at } = await elected();
      const own = createEngine(url, { patience_ms, name: `runnel ${cell}` });
      const ship = createShipper({
        ...{ engine: own, cell, epoch, claimed_at, path: database, ttl_ms, patience_ms: told_ms, log },
        onFenced: options.onFenced,
      });
      const reached = head === 0 ? await begin(epoch) : await reach(head, epoch);
      ship.goOn(reached);
      log.info("leads the cell", { cell, epoch, row: reached });
      const stopCompacting = keepCompact(engine, cell, ship);
      return {
        ship,
        async leave() {
          stopCompacting();
          await Promise.race([ship.settled(), Bun.sleep(leave_ms)]);
          ship.stop();
          await own.attempt((sql) => release(sql, cell, epoch), leave_ms);
          await Promise.all([own.close(), engine.close()]);
        },
      };
    },
  };
}

/**
 * A node's copy is thrown away: what is in the engine counts, and a former leader may have more than was ever told of.
 * What is nobody's copy is never touched.
 */
function checkFolder(options: NodeOptions, known: CellRow | null): void {
  const { database, marker, candidate } = options;
  const isEmpty = known === null || known.head === 0;
  const marked = readMark(marker);
  if (marked?.planted && isEmpty)
    throw new ClusterError(
      `The engine has nothing of the cell "${candidate.cell}", and ${database} is a copy of it. Delete ${marker} to begin the cell with this copy, or give another --data-dir.`,
    );
  if (isEmpty) return;
  if (existsSync(database) && !marked)
    throw new ClusterError(
      `${database} is a database of its own, and the cell "${candidate.cell}" has one already. Give another --data-dir.`,
    );
  for (const tail of ["", "-wal", "-shm"]) rmSync(database + tail, { force: true });
  mark(options, true);
}

/** Says that the database in the folder is a copy; not `planted`, that it may still be the only one. */
function mark({ marker, candidate: { cell } }: NodeOptions, planted: boolean): void {
  writeFileSync(marker, `${JSON.stringify({ cell, planted })}\n`);
}

const readMark = (marker: string): { planted: boolean } | null =>
  existsSync(marker) ? JSON.parse(readFileSync(marker, "utf8")) : null;

/** Moves old rows of the log into pages, so that it does not grow and a new node has less to read. */
function keepCompact(engine: Engine, cell: string, ship: Shipper): () => void {
  let isAtIt = false;
  const timer = setInterval(async () => {
    if (isAtIt || ship.isStalled()) return;
    isAtIt = true;
    const upto = ship.figures().acked - kept_rows;
    while ((upto > 0 && (await engine.attempt((sql) => compact(sql, cell, upto)))) || 0) await Bun.sleep(20);
    isAtIt = false;
  }, compact_ms);
  timer.unref();
  return () => clearInterval(timer);
}

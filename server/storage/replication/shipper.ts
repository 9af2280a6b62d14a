import type { Database } from "bun:sqlite";
import { createEventEmitter } from "../../lib/event-emitter.ts";
import type { Log } from "../../lib/log.ts";
import { leased } from "./lease.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { joinedRoutes, type RouteChanges, type Routes, routesText, writingRoutes } from "./routes.ts";
import { encodeFrames, inPieces, joined, type WalFrames } from "./wal-frames.ts";
import { createWalReader } from "./wal-reader.ts";

/** The leader's side of a cell: ships commits, which are acknowledged once Postgres has them. */
export interface Shipper {
  /** Continues after row `head` of the log. Call it before the first commit. */
  resume(head: number): void;
  /** Must be called with the writing connection before its first commit. */
  attach(sqlite: Database): void;
  /** Ships changed routes together with their commits from now on. */
  route(routes: Pick<Routes, "take">): void;
  /** Must be called after each commit, in the same tick. Resolves once Postgres has it. */
  committed(): Promise<void>;
  /**
   * Resolves once Postgres has all commits until now and this node is known to lead. Await it before data read here
   * leaves the process.
   */
  settled(): Promise<void>;
  /**
   * End of the time in which this node is known to lead, in ms since 1970; shared with workers, which see changes at
   * once.
   */
  leadsUntil: SharedArrayBuffer;
  /** Performs work that may block this thread for `ms`, with a longer lease meanwhile. */
  withLongLease<T>(ms: number, work: () => Promise<T>): Promise<T>;
  /** True once Postgres has been silent longer than `patience_ms`; waiting requests then fail. */
  isStalled(): boolean;
  /** Subscribes to the beginning of each stall. */
  onStalled(hear: () => void): void;
  figures(): ShipperFigures;
  /** Stops shipping. */
  stop(): void;
}

interface ShipperFigures {
  epoch: number;
  /** Number of log rows written by this leader, and their bytes. */
  rows: number;
  bytes: number;
  /** The newest row acknowledged by Postgres. */
  acked: number;
  /** The newest acknowledged row that completes a commit. */
  whole: number;
  /** Number of rows and commits that are not acknowledged yet. */
  waiting: number;
  /** Milliseconds since Postgres last responded. */
  silent_ms: number;
  reconnects: number;
}

interface ShipperOptions {
  engine: PostgresClient;
  cell: string;
  epoch: number;
  /** A moment before the cell was claimed. */
  claimed_at: Moment;
  /** Path of the database. */
  path: string;
  ttl_ms: number;
  /** Maximum wait of a request for Postgres before it fails. */
  patience_ms: number;
  /** Pages per piece of a large commit; by default 8 MB. */
  piece_pages?: number;
  /** Called when another node leads, or a commit cannot be sent (`fault`): no commit may be acknowledged any more. */
  onFenced(fault?: unknown): void;
  log: Pick<Log, "warn">;
}

// Two rows in flight hide the network latency. More do not help: with a synchronous standby one connection ends a wait
// before it begins the next, so commits share rows instead.
const rowsOnTheirWay = 2;
// Delays the checkpoint, because a page that is written several times is then copied only once.
const checkpoint_bytes = 4 * 1024 * 1024;
const largeLog_bytes = 64 * 1024 * 1024;
/** Allowed drift of the clocks: a larger one means that the machine was asleep or its clock was set. */
const parted_ms = 500;

/** A moment on both clocks of this process. */
interface Moment {
  mono: number;
  wall: number;
}

export const now = (): Moment => ({ mono: performance.now(), wall: Date.now() });

type Statements = ReturnType<typeof statementsFor>;

/** Returns the statements of a leader. Each also renews the lease by `lease_ms`. */
function statementsFor(lease_ms: number) {
  const shipping = (others = "") => `WITH mine AS (
      UPDATE runnel_cells SET head = $3, ${leased(lease_ms)} WHERE id = $1 AND epoch = $2 AND head = $3 - 1 RETURNING id
    )${others} INSERT INTO runnel_log (cell, seq, epoch, frames) SELECT id, $3, $2, $4 FROM mine RETURNING seq`;
  return {
    lease_ms,
    asked: `UPDATE runnel_cells SET ${leased(lease_ms)} WHERE id = $1 AND epoch = $2 RETURNING head`,
    shipped: shipping(),
    shippedWithRoutes: shipping(`, ${writingRoutes("$5")}`),
  };
}

export function createShipper(options: ShipperOptions): Shipper {
  const { engine, cell, epoch, path, ttl_ms, patience_ms, piece_pages, onFenced, log } = options;
  const capture = createWalReader(path);
  let statements = statementsFor(ttl_ms);
  let sqlite: Database | null = null;
  let [seq, acked, whole, onTheirWay, rows, bytes] = [0, 0, 0, 0, 0, 0];
  /** Commits made while rows are in flight: the next row. */
  let next: { frames: WalFrames; routes: RouteChanges | null; told: PromiseWithResolvers<void> } | null = null;
  let takeRoutes: Routes["take"] = () => null;
  /** Resolves when all commits are acknowledged. */
  let last: Promise<void> = Promise.resolve();
  let agreeing: Promise<void> | null = null;
  let heard = options.claimed_at;
  /** Start of the silence while statements wait for a response; null if none waits. */
  let unheardSince: number | null = null;
  let asking = 0;
  /** The lease that was requested then. */
  let held_ms = ttl_ms;
  const leadsUntil = new BigInt64Array(new SharedArrayBuffer(8));
  tellThreads();
  let isOver = false;
  const stalls = createEventEmitter();
  let wasStalled = false;

  const timer = setInterval(watch, ttl_ms / 4);

  /** Renews the lease of an idle leader, and detects a stall. */
  function watch(): void {
    if (performance.now() - heard.mono > ttl_ms / 3) void agreed();
    const isSilent = isStalled();
    if (isSilent && !wasStalled) {
      log.warn("the cluster's engine does not answer", { fault: engine.fault() });
      stalls.tell();
    }
    wasStalled = isSilent;
  }

  const isStalled = (): boolean => performance.now() - (unheardSince ?? performance.now()) > patience_ms;

  /** True while the lease holds by this process's own clocks; Postgres counts from a later moment. */
  function leads(): boolean {
    const { mono, wall } = now();
    const [passed, onWall] = [mono - heard.mono, wall - heard.wall];
    return passed < held_ms && Math.abs(onWall - passed) < parted_ms;
  }

  function tellThreads(): void {
    Atomics.store(leadsUntil, 0, BigInt(heard.wall + held_ms));
  }

  async function ask(statement: keyof Omit<Statements, "lease_ms">, values: readonly unknown[]) {
    const begun = now();
    const { lease_ms, [statement]: sql } = statements;
    unheardSince ??= begun.mono;
    asking++;
    const answer = await engine.ask(sql, values);
    asking--;
    // An empty result also comes from a Postgres that cannot write, for example with a full disk.
    if (!answer || answer.length === 0) return answer;
    unheardSince = asking > 0 ? performance.now() : null;
    if (begun.mono > heard.mono) {
      [heard, held_ms] = [begun, lease_ms];
      count();
    }
    return answer;
  }

  /**
   * Reads the head and renews the lease. Uses a write: a read may show rows that the standby lacks, while a write waits
   * until all earlier ones are copied.
   */
  async function agree(): Promise<void> {
    const answer = await ask("asked", [cell, epoch]);
    if (answer?.length === 0) fenced();
    else if (answer) acked = Math.max(acked, Number(answer[0]!.head));
    else await Bun.sleep(50 + Math.random() * 100);
  }

  function agreed(): Promise<void> {
    agreeing ??= agree().finally(() => {
      agreeing = null;
    });
    return agreeing;
  }

  /**
   * Changes the requested lease by `more_ms`. Works on this thread run one after the other, so that their times add up.
   */
  function lease(more_ms: number): void {
    statements = statementsFor(statements.lease_ms + more_ms);
    count();
  }

  /** Counts on the shorter lease at once: Postgres may have shortened it already, with the response lost. */
  function count(): void {
    held_ms = Math.min(held_ms, statements.lease_ms);
    tellThreads();
  }

  function fenced(fault?: unknown): void {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    onFenced(fault);
  }

  /** Sends the next row unless two are in flight; commits made meanwhile share a row, with each page once. */
  function send(): void {
    if (!next || onTheirWay >= rowsOnTheirWay) return;
    const { frames, routes, told } = next;
    next = null;
    const pieces = inPieces(frames, piece_pages);
    onTheirWay += pieces.length; // Counts all pieces at once, so that no other row comes between them.
    void deliverAll(pieces, routes)
      .then(() => {
        onTheirWay -= pieces.length;
        told.resolve();
        send();
      })
      .catch(fenced);
  }

  async function deliverAll(pieces: readonly WalFrames[], routes: RouteChanges | null): Promise<void> {
    const before = seq;
    seq += pieces.length;
    for (const [index, piece] of pieces.entries()) {
      const encoded = encodeFrames(piece);
      rows++;
      bytes += encoded.length;
      // With the last piece, which completes the commit.
      await deliver(before + index + 1, encoded, index === pieces.length - 1 ? routes : null);
    }
    whole = Math.max(whole, before + pieces.length);
  }

  /**
   * Sends a row until it is acknowledged. Without a response or result it may be stored, an earlier row missing, or
   * another node leading.
   */
  async function deliver(row: number, frames: Buffer, routes: RouteChanges | null): Promise<void> {
    while (acked < row) {
      if (isOver) await new Promise(() => {}); // Never resolves: the commit must not be acknowledged.
      const answer = routes
        ? await ask("shippedWithRoutes", [cell, epoch, row, frames, routesText(routes)])
        : await ask("shipped", [cell, epoch, row, frames]);
      if (answer?.length === 1) acked = Math.max(acked, row);
      else if (acked < row) await agreed();
    }
  }

  /** Checkpoints the WAL, all of which was sent. It keeps its length while a reader needs it or the disk is full. */
  function keepLogShort(): void {
    if (!sqlite || capture.length_bytes() <= checkpoint_bytes) return;
    const { timeout } = sqlite.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()!;
    sqlite.run("PRAGMA busy_timeout = 0");
    try {
      sqlite.run(`PRAGMA wal_checkpoint(${capture.length_bytes() > largeLog_bytes ? "TRUNCATE" : "PASSIVE"})`);
    } catch {
      // Nothing is lost: the next checkpoint retries.
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${timeout}`);
    }
  }

  /** Fences this node if a commit cannot be captured: it is never acknowledged, and no later one is sent. */
  const wholly = (work: () => Promise<void>) => (): Promise<void> => {
    try {
      return work();
    } catch (fault) {
      fenced(fault);
      return new Promise(() => {});
    }
  };

  return {
    resume(head) {
      [seq, acked, whole] = [head, head, head];
    },
    attach(connection) {
      sqlite = connection;
      // Postgres is the durable copy, so a commit waits for no disk, only a checkpoint does. No automatic checkpoints,
      // because a commit must be captured before it moves into the database.
      for (const pragma of ["synchronous = NORMAL", "wal_autocheckpoint = 0"]) connection.run(`PRAGMA ${pragma}`);
    },
    route({ take }) {
      takeRoutes = take;
    },
    committed: wholly(() => {
      if (isOver) return new Promise(() => {});
      const frames = capture.take();
      if (!frames) return last;
      const routes = joinedRoutes(next?.routes ?? null, takeRoutes());
      const told = next?.told ?? Promise.withResolvers<void>();
      if (!next) last = Promise.all([last, told.promise]).then(() => {});
      next = { told, routes, frames: next ? joined(next.frames, frames) : frames };
      send();
      keepLogShort();
      return last;
    }),
    async settled() {
      await last;
      while (!leads() || isOver) await (isOver ? new Promise(() => {}) : agreed());
    },
    leadsUntil: leadsUntil.buffer,
    async withLongLease(ms, work) {
      lease(ms);
      try {
        while (held_ms < statements.lease_ms && !isOver) await agreed();
        return await work();
      } finally {
        lease(-ms);
        void agreed();
      }
    },
    isStalled,
    onStalled: stalls.listen,
    figures: () => ({
      epoch,
      rows,
      bytes,
      acked,
      whole,
      waiting: seq - acked + (next ? 1 : 0),
      silent_ms: Math.round(performance.now() - heard.mono),
      reconnects: engine.reconnects(),
    }),
    stop() {
      isOver = true;
      clearInterval(timer);
      capture.close();
    },
  };
}

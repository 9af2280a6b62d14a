import type { Database } from "bun:sqlite";
import type { Log } from "../lib/log.ts";
import { createSignal } from "../lib/signal.ts";
import { createCapture } from "./capture.ts";
import type { Engine } from "./engine.ts";
import { encodeFrames, type Frames, inPieces, joined } from "./frames.ts";
import { leased } from "./lease.ts";
import { joinedRoutes, type RouteChanges, type Routes, routesText, writingRoutes } from "./routes.ts";

/** The leader's side of a cell: what its database commits is told of once the engine has it. */
export interface Shipper {
  /** Goes on from the newest row of the log; before the first commit. */
  goOn(head: number): void;
  /** To be called with the connection that writes, before its first commit. */
  attach(sqlite: Database): void;
  /** From now on the routes that a commit changes go with it. */
  route(routes: Pick<Routes, "take">): void;
  /** To be called after each commit, in the same tick. Settles once the engine has it. */
  committed(): Promise<void>;
  /**
   * Settles once the engine has everything that was committed until now, and this node is known to lead. To be awaited
   * before anything leaves the process that was read here.
   */
  settled(): Promise<void>;
  /** Holds the moment until which this node is known to lead, in ms since 1970: for threads, which see it at once. */
  leadsUntil: SharedArrayBuffer;
  /** Does work that may keep this thread from everything else for so long: the lease is longer meanwhile. */
  longer<T>(ms: number, work: () => Promise<T>): Promise<T>;
  /** Whether the engine has said nothing for so long that whoever waits is told so. */
  isStalled(): boolean;
  /** Who hears of each stall. */
  onStalled(hear: () => void): void;
  figures(): ShipperFigures;
  /** Ships no more. */
  stop(): void;
}

interface ShipperFigures {
  epoch: number;
  /** Rows of the log that this leader has written, and bytes in them. */
  rows: number;
  bytes: number;
  /** The newest row that the engine has acknowledged. */
  acked: number;
  /** The newest one of those with which a commit is whole. */
  whole: number;
  /** Commits and rows that nobody has acknowledged yet. */
  waiting: number;
  /** Since the engine has answered. */
  silent_ms: number;
  reconnects: number;
}

interface ShipperOptions {
  engine: Engine;
  cell: string;
  epoch: number;
  /** Before the cell was claimed. */
  claimed_at: Moment;
  /** The file of the database. */
  path: string;
  ttl_ms: number;
  /** Who waits for the engine longer is told that it is away. */
  patience_ms: number;
  /** Of a commit that goes in pieces, in each; by itself as many as make 8 MB. */
  piece_pages?: number;
  /** Another node leads, or a commit cannot be sent (`fault`): nothing may be acknowledged any more. */
  onFenced(fault?: unknown): void;
  log: Pick<Log, "warn">;
}

// Hides the way to the engine. With more, one connection to a server with a synchronous standby does no more: it ends
// one wait before it begins the next, so commits share rows instead.
const rowsOnTheirWay = 2;
// What one page costs to copy into the database is saved when it is written again before.
const checkpoint_bytes = 4 * 1024 * 1024;
const largeLog_bytes = 64 * 1024 * 1024;
/** Wall clock and monotonic clock part when the machine was asleep, or somebody has set it. */
const parted_ms = 500;

/** A moment by both clocks of this process. */
interface Moment {
  mono: number;
  wall: number;
}

export const now = (): Moment => ({ mono: performance.now(), wall: Date.now() });

type Statements = ReturnType<typeof statementsFor>;

/** What a leader says to the engine; each renews its lease, for so long. */
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
  const capture = createCapture(path);
  let statements = statementsFor(ttl_ms);
  let sqlite: Database | null = null;
  let [seq, acked, whole, onTheirWay, rows, bytes] = [0, 0, 0, 0, 0, 0];
  /** What was committed while rows were on their way: the next row. */
  let next: { frames: Frames; routes: RouteChanges | null; told: PromiseWithResolvers<void> } | null = null;
  let takeRoutes: Routes["take"] = () => null;
  /** Settles when everything has been acknowledged that was committed. */
  let last: Promise<void> = Promise.resolve();
  let agreeing: Promise<void> | null = null;
  let heard = options.claimed_at;
  /** Since when something has been asked and nothing answered; null when nothing is asked. */
  let unheardSince: number | null = null;
  let asking = 0;
  /** The lease that was asked for then. */
  let held_ms = ttl_ms;
  const leadsUntil = new BigInt64Array(new SharedArrayBuffer(8));
  tellThreads();
  let isOver = false;
  const stalls = createSignal();
  let wasStalled = false;

  const timer = setInterval(watch, ttl_ms / 4);

  /** Renews the lease of a leader that ships nothing, and notices when nobody answers. */
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

  /** By this process's own clocks: the engine counts from a later moment. */
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
    // A row that matches nothing is answered by an engine that cannot write, too: its disk may be full.
    if (!answer || answer.length === 0) return answer;
    unheardSince = asking > 0 ? performance.now() : null;
    if (begun.mono > heard.mono) {
      [heard, held_ms] = [begun, lease_ms];
      count();
    }
    return answer;
  }

  /**
   * Asks what the engine has, and renews the lease. By a write: what a reading shows, the standby may lack, while a
   * write waits for the copy of all before it.
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

  /** From now on the lease is asked for that much longer: works follow each other on this thread, so that all of them count. */
  function lease(more_ms: number): void {
    statements = statementsFor(statements.lease_ms + more_ms);
    count();
  }

  /** Of a lease that was longer nothing is counted on: the engine may know already that it is not, and its answer be lost. */
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

  /** Two rows may be on their way; what is committed meanwhile shares the next one, with each page once. */
  function send(): void {
    if (!next || onTheirWay >= rowsOnTheirWay) return;
    const { frames, routes, told } = next;
    next = null;
    const pieces = inPieces(frames, piece_pages);
    onTheirWay += pieces.length; // Nothing comes between them.
    void deliverAll(pieces, routes)
      .then(() => {
        onTheirWay -= pieces.length;
        told.resolve();
        send();
      })
      .catch(fenced);
  }

  async function deliverAll(pieces: readonly Frames[], routes: RouteChanges | null): Promise<void> {
    const before = seq;
    seq += pieces.length;
    for (const [index, piece] of pieces.entries()) {
      const encoded = encodeFrames(piece);
      rows++;
      bytes += encoded.length;
      // With the last piece: before it nothing is committed.
      await deliver(before + index + 1, encoded, index === pieces.length - 1 ? routes : null);
    }
    whole = Math.max(whole, before + pieces.length);
  }

  /** No row, or no answer: it may be there, one before it may not, or another leads. */
  async function deliver(row: number, frames: Buffer, routes: RouteChanges | null): Promise<void> {
    while (acked < row) {
      if (isOver) await new Promise(() => {}); // Nobody may hear that it was done.
      const answer = routes
        ? await ask("shippedWithRoutes", [cell, epoch, row, frames, routesText(routes)])
        : await ask("shipped", [cell, epoch, row, frames]);
      if (answer?.length === 1) acked = Math.max(acked, row);
      else if (acked < row) await agreed();
    }
  }

  /** All of the log has been sent. It is not truncated while a reader needs it or the disk is full, and nobody waits for that. */
  function keepLogShort(): void {
    if (!sqlite || capture.length_bytes() <= checkpoint_bytes) return;
    const { timeout } = sqlite.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()!;
    sqlite.run("PRAGMA busy_timeout = 0");
    try {
      sqlite.run(`PRAGMA wal_checkpoint(${capture.length_bytes() > largeLog_bytes ? "TRUNCATE" : "PASSIVE"})`);
    } catch {
      // Nothing is lost: the log is checkpointed when there is room.
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${timeout}`);
    }
  }

  /** A commit that is incomplete in the engine is not acknowledged, and none is sent after it. */
  const wholly = (work: () => Promise<void>) => (): Promise<void> => {
    try {
      return work();
    } catch (fault) {
      fenced(fault);
      return new Promise(() => {});
    }
  };

  return {
    goOn(head) {
      [seq, acked, whole] = [head, head, head];
    },
    attach(connection) {
      sqlite = connection;
      // The engine is the durable copy: a commit waits for no disk, a checkpoint does. And what is not taken yet may not
      // go into the database.
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
    async longer(ms, work) {
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

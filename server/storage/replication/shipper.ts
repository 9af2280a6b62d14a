import type { Database } from "bun:sqlite";
import { createEventEmitter } from "../../lib/event-emitter.ts";
import type { Log } from "../../lib/log.ts";
import { LeaderLease, type Moment } from "./leader-lease.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { joinedRoutes, type RouteChanges, type Routes, routesText } from "./routes.ts";
import { addCommits, type Commits, countPieces, encodeFrames, inPieces } from "./wal-frames.ts";
import { createWalReader } from "./wal-reader.ts";

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
  /** Pages per piece of a large commit; by default 2 MB. */
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

/** Commits made while rows are in flight: the next row. */
interface NextRow {
  frames: Commits;
  routes: RouteChanges | null;
  told: PromiseWithResolvers<void>;
}

/** The leader's side of a cell: ships commits, which are acknowledged once Postgres has them. */
export class Shipper {
  readonly #options: ShipperOptions;
  readonly #capture: ReturnType<typeof createWalReader>;
  readonly #lease: LeaderLease;
  readonly #stalls = createEventEmitter();
  readonly #timer: Timer;
  #wasStalled = false;
  #sqlite: Database | null = null;
  #takeRoutes: Routes["take"] = () => null;
  /** The newest row that was sent. */
  #seq = 0;
  #acked = 0;
  #whole = 0;
  #onTheirWay = 0;
  #rows = 0;
  #bytes = 0;
  #next: NextRow | null = null;
  /** Commits on their way of which not all pages were read from the WAL. */
  readonly #unread = new Set<Commits>();
  /** Resolves when all commits are acknowledged. */
  #last: Promise<void> = Promise.resolve();
  #agreeing: Promise<void> | null = null;
  #isOver = false;

  constructor(options: ShipperOptions) {
    this.#options = options;
    this.#capture = createWalReader(options.path);
    this.#lease = new LeaderLease(options);
    this.#timer = setInterval(() => this.#watch(), options.ttl_ms / 4);
  }

  /** Continues after row `head` of the log. Call it before the first commit. */
  resume(head: number): void {
    [this.#seq, this.#acked, this.#whole] = [head, head, head];
  }

  /** Must be called with the writing connection before its first commit. */
  attach(connection: Database): void {
    this.#sqlite = connection;
    // Postgres is the durable copy, so a commit waits for no disk, only a checkpoint does. No automatic checkpoints,
    // because a commit must be captured before it moves into the database.
    for (const pragma of ["synchronous = NORMAL", "wal_autocheckpoint = 0"]) connection.run(`PRAGMA ${pragma}`);
  }

  /** Ships changed routes together with their commits from now on. */
  route({ take }: Pick<Routes, "take">): void {
    this.#takeRoutes = take;
  }

  /**
   * Must be called after each commit, in the same tick. Resolves once Postgres has it. Fences this node if a commit
   * cannot be captured: it is never acknowledged, and no later one is sent.
   */
  readonly committed = (): Promise<void> => {
    try {
      return this.#isOver ? new Promise(() => {}) : this.#ship();
    } catch (fault) {
      this.#fence(fault);
      return new Promise(() => {});
    }
  };

  /**
   * Resolves once Postgres has all commits until now and this node is known to lead. Await it before data read here
   * leaves the process.
   */
  readonly settled = async (): Promise<void> => {
    await this.#last;
    while (!this.#lease.holds() || this.#isOver) await (this.#isOver ? new Promise(() => {}) : this.#agreed());
  };

  /**
   * End of the time in which this node is known to lead, in ms since 1970; shared with workers, which see changes at
   * once.
   */
  get leadsUntil(): SharedArrayBuffer {
    return this.#lease.until;
  }

  /** Performs work that may block this thread for `ms`, with a longer lease meanwhile. */
  async withLongLease<T>(ms: number, work: () => Promise<T>): Promise<T> {
    this.#lease.lengthen(ms);
    try {
      while (!this.#lease.isGranted() && !this.#isOver) await this.#agreed();
      return await work();
    } finally {
      this.#lease.lengthen(-ms);
      void this.#agreed();
    }
  }

  /** True once Postgres has been silent longer than `patience_ms`; waiting requests then fail. */
  isStalled(): boolean {
    return this.#lease.isStalled();
  }

  /** Subscribes to the beginning of each stall. */
  onStalled(listener: () => void): void {
    this.#stalls.listen(listener);
  }

  readonly figures = (): ShipperFigures => ({
    epoch: this.#options.epoch,
    rows: this.#rows,
    bytes: this.#bytes,
    acked: this.#acked,
    whole: this.#whole,
    waiting: this.#seq - this.#acked + (this.#next ? 1 : 0),
    silent_ms: Math.round(this.#lease.silent_ms()),
    reconnects: this.#options.engine.reconnects(),
  });

  /** Stops shipping. */
  stop(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#capture.close();
  }

  /** Renews the lease of an idle leader, and detects a stall. */
  #watch(): void {
    if (this.#lease.isDue()) void this.#agreed();
    const isSilent = this.isStalled();
    if (isSilent && !this.#wasStalled) {
      const { log, engine } = this.#options;
      log.warn("the cluster's engine does not answer", { fault: engine.fault() });
      this.#stalls.tell();
    }
    this.#wasStalled = isSilent;
  }

  /**
   * Reads the head and renews the lease. Uses a write: a read may show rows that the standby lacks, while a write waits
   * until all earlier ones are copied.
   */
  async #agree(): Promise<void> {
    const answer = await this.#lease.ask("asked", [this.#options.cell, this.#options.epoch]);
    if (!answer) return Bun.sleep(50 + Math.random() * 100);
    const [row] = answer;
    if (row) this.#acked = Math.max(this.#acked, Number(row.head));
    else this.#fence();
  }

  #agreed(): Promise<void> {
    this.#agreeing ??= this.#agree().finally(() => {
      this.#agreeing = null;
    });
    return this.#agreeing;
  }

  #fence(fault?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#options.onFenced(fault);
  }

  /** Adds a commit to the next row, and sends it unless two rows are in flight. */
  #ship(): Promise<void> {
    const frames = this.#capture.take(this.#hasUnread());
    if (!frames) return this.#last;
    const before = this.#next;
    const routes = joinedRoutes(before?.routes ?? null, this.#takeRoutes());
    const told = before?.told ?? Promise.withResolvers<void>();
    if (!before) this.#last = Promise.all([this.#last, told.promise]).then(() => {});
    if (before) addCommits(before.frames, frames);
    this.#next = { told, routes, frames: before?.frames ?? frames };
    this.#send();
    this.#keepLogShort();
    return this.#last;
  }

  /** Sends the next row unless two are in flight; commits made meanwhile share a row, with each page once. */
  #send(): void {
    if (!this.#next || this.#onTheirWay >= rowsOnTheirWay) return;
    const { frames, routes, told } = this.#next;
    this.#next = null;
    const count = countPieces(frames, this.#options.piece_pages);
    this.#onTheirWay += count; // Counts all pieces at once, so that no other row comes between them.
    void this.#deliverAll({ frames, count }, routes)
      .then(() => {
        this.#onTheirWay -= count;
        told.resolve();
        this.#send();
      })
      .catch((fault) => this.#fence(fault));
  }

  /** Reads, compresses and sends one piece after the other, so that a commit may be larger than the memory. */
  async #deliverAll({ frames, count }: { frames: Commits; count: number }, routes: RouteChanges | null): Promise<void> {
    let row = this.#seq;
    this.#seq += count;
    const last = this.#seq;
    if (frames.isUnread) this.#unread.add(frames);
    for (const piece of inPieces(frames, this.#options.piece_pages)) {
      const encoded = encodeFrames(this.#capture.load(piece));
      row++;
      if (row === last) this.#unread.delete(frames);
      this.#rows++;
      this.#bytes += encoded.length;
      // With the last piece, which completes the commit.
      await this.#deliver(row, encoded, row === last ? routes : null);
    }
    this.#whole = Math.max(this.#whole, last);
  }

  /** True while pages of commits are only in the WAL, which may not restart before they are read. */
  #hasUnread(): boolean {
    return this.#unread.size > 0 || this.#next?.frames.isUnread === true;
  }

  /**
   * Sends a row until it is acknowledged. Without a response or result it may be stored, an earlier row missing, or
   * another node leading.
   */
  async #deliver(row: number, frames: Buffer, routes: RouteChanges | null): Promise<void> {
    const { cell, epoch } = this.#options;
    while (this.#acked < row) {
      if (this.#isOver) await new Promise(() => {}); // Never resolves: the commit must not be acknowledged.
      const answer = routes
        ? await this.#lease.ask("shippedWithRoutes", [cell, epoch, row, frames, routesText(routes)])
        : await this.#lease.ask("shipped", [cell, epoch, row, frames]);
      if (answer?.length === 1) this.#acked = Math.max(this.#acked, row);
      else if (this.#acked < row) await this.#agreed();
    }
  }

  /**
   * Checkpoints the WAL, all of which was read. It keeps its length while a reader needs it, pages of a large commit are
   * still to be sent, or the disk is full.
   */
  #keepLogShort(): void {
    const sqlite = this.#sqlite;
    const length_bytes = this.#capture.length_bytes();
    if (!sqlite || length_bytes <= checkpoint_bytes || this.#hasUnread()) return;
    const { timeout = 0 } = sqlite.query<{ timeout: number }, []>("PRAGMA busy_timeout").get() ?? {};
    sqlite.run("PRAGMA busy_timeout = 0");
    try {
      sqlite.run(`PRAGMA wal_checkpoint(${length_bytes > largeLog_bytes ? "TRUNCATE" : "PASSIVE"})`);
    } catch {
      // Nothing is lost: the next checkpoint retries.
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${timeout}`);
    }
  }
}

import { leased } from "./lease.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { writingRoutes } from "./routes.ts";

/** A moment on both clocks of this process. */
export interface Moment {
  mono: number;
  wall: number;
}

export const now = (): Moment => ({ mono: performance.now(), wall: Date.now() });

interface LeaseOptions {
  engine: Pick<PostgresClient, "ask">;
  /** A moment before the cell was claimed. */
  claimed_at: Moment;
  ttl_ms: number;
  patience_ms: number;
}

/** Allowed drift of the clocks: a larger one means that the machine was asleep or its clock was set. */
const parted_ms = 500;

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

/** The lease of a leader, renewed by each response of Postgres. */
export class LeaderLease {
  /** End of the time in which this node is known to lead, in ms since 1970; shared with workers. */
  readonly until = new SharedArrayBuffer(8);
  readonly #until = new BigInt64Array(this.until);
  readonly #options: LeaseOptions;
  #statements: Statements;
  #heard: Moment;
  /** The lease that was requested then. */
  #held_ms: number;
  /** Start of the silence while statements wait for a response; null if none waits. */
  #unheardSince: number | null = null;
  #asking = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#statements = statementsFor(options.ttl_ms);
    this.#heard = options.claimed_at;
    this.#held_ms = options.ttl_ms;
    this.#tellThreads();
  }

  /** Runs a statement, which renews the lease. Returns null without a response. */
  async ask(statement: keyof Omit<Statements, "lease_ms">, values: readonly unknown[]) {
    const begun = now();
    const { lease_ms, [statement]: sql } = this.#statements;
    this.#unheardSince ??= begun.mono;
    this.#asking++;
    const answer = await this.#options.engine.ask(sql, values);
    this.#asking--;
    // An empty result also comes from a Postgres that cannot write, for example with a full disk.
    if (!answer || answer.length === 0) return answer;
    this.#unheardSince = this.#asking > 0 ? performance.now() : null;
    if (begun.mono > this.#heard.mono) {
      [this.#heard, this.#held_ms] = [begun, lease_ms];
      this.#count();
    }
    return answer;
  }

  /** True while the lease holds by this process's own clocks; Postgres counts from a later moment. */
  holds(): boolean {
    const { mono, wall } = now();
    const [passed, onWall] = [mono - this.#heard.mono, wall - this.#heard.wall];
    return passed < this.#held_ms && Math.abs(onWall - passed) < parted_ms;
  }

  /** True if an idle leader has to renew its lease. */
  isDue(): boolean {
    return this.silent_ms() > this.#options.ttl_ms / 3;
  }

  /** Returns the milliseconds since Postgres last responded. */
  silent_ms(): number {
    return performance.now() - this.#heard.mono;
  }

  /** True once Postgres has been silent longer than `patience_ms`. */
  isStalled(): boolean {
    return performance.now() - (this.#unheardSince ?? performance.now()) > this.#options.patience_ms;
  }

  /** True once Postgres has granted the lease that is requested now. */
  isGranted(): boolean {
    return this.#held_ms >= this.#statements.lease_ms;
  }

  /**
   * Changes the requested lease by `more_ms`. Works on this thread run one after the other, so that their times add up.
   */
  lengthen(more_ms: number): void {
    this.#statements = statementsFor(this.#statements.lease_ms + more_ms);
    this.#count();
  }

  /** Counts on the shorter lease at once: Postgres may have shortened it already, with the response lost. */
  #count(): void {
    this.#held_ms = Math.min(this.#held_ms, this.#statements.lease_ms);
    this.#tellThreads();
  }

  #tellThreads(): void {
    Atomics.store(this.#until, 0, BigInt(this.#heard.wall + this.#held_ms));
  }
}

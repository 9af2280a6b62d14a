import { endsRun, type JournalEntry } from "../../domain/run-event.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createFairSemaphore } from "../../lib/fair-queue/fair-semaphore.ts";
import { createRoundRobin } from "../../lib/fair-queue/round-robin.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import type { Db } from "../../storage/db/open.ts";
import { schedules } from "../../storage/db/schema.ts";
import { columnsOf, createScopedTable } from "../../storage/db/scoped-table.ts";
import { replan } from "./next-fire-times.ts";
import { type Row, rowOf } from "./row.ts";
import { createTrigger, type DueRow, isQueued, type QueuedRow } from "./trigger.ts";

// Polling interval, because timers do not notice clock changes or the machine's sleep.
const look_ms = 15_000;
const again_ms = 1000;
const atOnce = 100;
// Most due schedules read at once, because a project may have many and other work must continue.
const perLook = 500;

interface Due extends Scope {
  id: string;
  next_at_ms: number;
  /** Row number, for paging. */
  place: number;
}

type SchedulerOptions = Omit<Parameters<typeof createTrigger>[0], "isRunning">;

const startPosition = { next_at_ms: 0, place: 0 };

/**
 * Starts the runs of schedules with one timer for the next fire time. The plan moves on in the write that creates the
 * run, so that a crash neither loses nor repeats a fire time. Owners of due schedules take turns.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #rows;
  readonly #statements;
  readonly #trigger;
  readonly #places = createFairSemaphore({ count: atOnce, reserve: 0 });
  readonly #lines = createRoundRobin<Due>();
  /** Ids of the schedules in the lines. */
  readonly #waiting = new Set<string>();
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #stopping = Promise.withResolvers<void>();
  /** Fire time and row number of the last schedule read. */
  #behind: Pick<Due, "next_at_ms" | "place"> = startPosition;
  #isMore = false;
  #isRunning = false;
  #replanned = Promise.resolve();
  #timer: Timer | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#rows = createScopedTable(options.db, schedules);
    this.#statements = statementsOf(options.db);
    this.#trigger = createTrigger({ ...options, isRunning: () => this.#isRunning });
  }

  /** Starts firing, first what an earlier process left. */
  readonly start = (): void => {
    const { db, firings, log, now } = this.#options;
    this.#isRunning = true;
    const queued = this.#statements.selectQueued.all().map(rowOf).filter(isQueued);
    for (const row of queued) if (!firings.isBusy(row)) this.#follow(row);
    this.look();
    this.#replanned = replan(db, now, () => this.#isRunning)
      .then(this.arm)
      .catch((error) => log.error("the times of schedules were not looked at again", { error }));
  };

  /** Sets the timer for the next schedule. Call when a schedule's times may have changed. */
  readonly arm = (): void => {
    if (!this.#isRunning) return;
    if (this.#underWay.size >= atOnce && !this.#isMore) return; // The next one that ends arms the timer.
    clearTimeout(this.#timer);
    const isWaiting = this.#isMore || this.#waiting.size > 0;
    const soonest = isWaiting ? [] : this.#statements.selectNext.all(this.#underWay.size + 1);
    const next = soonest.find(({ id }) => !this.#underWay.has(id));
    if (isWaiting) this.#wait(0);
    else if (next) this.#wait(next.next_at_ms);
  };

  /** Fires due schedules. */
  look(): void {
    if (!this.#isRunning) return;
    this.#readOn();
    const maybeYield = createYielder();
    while (this.#underWay.size < atOnce) {
      const owner = this.#places.next(this.#lines.owners());
      const due = owner === null ? undefined : this.#lines.next(owner);
      if (owner === null || !due) break;
      this.#waiting.delete(due.id);
      const giveBack = this.#places.take(owner);
      this.#take(due, () => this.#fire(due, maybeYield).finally(giveBack));
    }
    this.arm();
  }

  /** Fires a schedule that waited for this run to end. */
  readonly heard = (runId: string, entries: readonly JournalEntry[]): void => {
    const isOver = this.#isRunning && entries.some(({ event }) => endsRun(event));
    const found = isOver && this.#options.firings.scheduleOf(runId);
    const row = found && this.#rows.get(found, found.id);
    if (row && isQueued(row)) this.#follow(row);
  };

  /** For tests: resolves when nothing is firing. */
  async idle(): Promise<void> {
    await this.#replanned;
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  readonly stop = async (): Promise<void> => {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    this.#stopping.resolve();
    await Promise.all([this.#replanned, ...this.#underWay.values()]);
  };

  #wait(at: number): void {
    const { now } = this.#options;
    const wake = () => (now() < at ? this.#wait(at) : this.look());
    this.#timer = setTimeout(wake, Math.min(Math.max(0, at - now()), look_ms));
  }

  /** Reads the next due schedules by fire time; starts over when none is waiting. */
  #readOn(): void {
    if (this.#waiting.size === 0 && !this.#isMore) this.#behind = startPosition;
    const { next_at_ms, place } = this.#behind;
    const due = this.#statements.selectDue.all({ now: this.#options.now(), next_at_ms, place, limit: perLook });
    for (const one of due) {
      if (this.#underWay.has(one.id) || this.#waiting.has(one.id)) continue;
      this.#waiting.add(one.id);
      this.#lines.add(nameOf(one), one);
    }
    this.#behind = due.at(-1) ?? this.#behind;
    this.#isMore = due.length === perLook;
  }

  /** Reads the row only when its turn comes, because a schedule's input may be large, and yields first. */
  async #fire(due: Due, rest: () => Promise<void>): Promise<void> {
    await rest();
    const row = this.#rows.get(due, due.id);
    if (row && this.#isDue(row)) await this.#trigger.fire(row);
  }

  #isDue(row: Row): row is DueRow {
    return row.next_at_ms !== null && row.next_at_ms <= this.#options.now();
  }

  #follow(row: QueuedRow): void {
    // A schedule that is firing now looks for it when done.
    if (!this.#underWay.has(row.id)) this.#take(row, () => this.#trigger.fireWaiting(row));
  }

  #take({ id, ...scope }: Scope & { id: string }, work: () => Promise<void>): void {
    const { firings, log } = this.#options;
    const done = work()
      .catch(async (error) => {
        if (!isStorageRefusal(error)) log.error("a schedule could not fire", { schedule_id: id, error });
        // Pause, because storage that accepts no write would be retried at once.
        await Promise.race([Bun.sleep(again_ms), this.#stopping.promise]);
      })
      .then(() => {
        this.#underWay.delete(id);
        const row = this.#isRunning ? this.#rows.get(scope, id) : null;
        if (row && this.#isDue(row)) this.#behind = startPosition; // Still due, but reading has moved past it: start over.
        if (row && isQueued(row) && !firings.isBusy(row)) this.#follow(row);
        this.arm();
      });
    this.#underWay.set(id, done);
  }
}

function statementsOf({ sqlite }: Db) {
  const open = "JOIN projects p ON p.id = s.project_id AND p.archived_at_ms IS NULL AND p.deleted_at_ms IS NULL";
  const columns = columnsOf(schedules, "s");
  return {
    selectNext: sqlite.query<{ id: string; next_at_ms: number }, [number]>(
      `SELECT s.id, s.next_at_ms FROM schedules s CROSS ${open} WHERE s.next_at_ms IS NOT NULL ORDER BY s.next_at_ms LIMIT ?`,
    ),
    selectDue: sqlite.query<Due, Pick<Due, "next_at_ms" | "place"> & { now: number; limit: number }>(
      `SELECT s.project_id, s.environment, s.id, s.next_at_ms, s.rowid AS place FROM schedules s CROSS ${open}
       WHERE s.next_at_ms <= $now AND (s.next_at_ms, s.rowid) > ($next_at_ms, $place)
       ORDER BY s.next_at_ms, s.rowid LIMIT $limit`,
    ),
    selectQueued: sqlite.query<Record<string, unknown>, []>(
      `SELECT ${columns} FROM schedules s CROSS ${open} WHERE s.queued_at_ms IS NOT NULL`,
    ),
  };
}

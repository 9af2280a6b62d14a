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
import { createTrigger } from "./trigger.ts";

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

const beginning = { next_at_ms: 0, place: 0 };

/**
 * Starts the runs of schedules with one timer for the next fire time. The plan moves on in the write that creates the
 * run, so that a crash neither loses nor repeats a fire time. Owners of due schedules take turns.
 */
export function createScheduler({
  db,
  firings,
  log,
  now,
  ...rules
}: Omit<Parameters<typeof createTrigger>[0], "isRunning">) {
  const rows = createScopedTable(db, schedules);
  const { selectNext, selectDue, selectQueued } = queries(db);
  const places = createFairSemaphore({ count: atOnce, reserve: 0 });
  const waiting = new Map<string, Due>();
  const lines = createRoundRobin<string>();
  // Fire time and row number of the last schedule read.
  let behind: Pick<Due, "next_at_ms" | "place"> = beginning;
  let isMore = false;
  const underWay = new Map<string, Promise<void>>();
  const stopping = Promise.withResolvers<void>();
  let isRunning = false;
  let replanned = Promise.resolve();
  let timer: Timer | undefined;
  const { fire, fireWaiting } = createTrigger({ ...rules, db, firings, isRunning: () => isRunning, log, now });

  /** Sets the timer for the next schedule. Call when a schedule's times may have changed. */
  function arm(): void {
    if (!isRunning) return;
    if (underWay.size >= atOnce && !isMore) return; // The next one that ends arms the timer.
    clearTimeout(timer);
    if (isMore || waiting.size > 0) wait(0);
    else {
      const next = selectNext.all(underWay.size + 1).find(({ id }) => !underWay.has(id));
      if (next) wait(next.next_at_ms);
    }
  }

  function wait(at: number): void {
    const left = at - now();
    timer = setTimeout(() => (now() < at ? wait(at) : look()), Math.min(Math.max(0, left), look_ms));
  }

  /** Fires due schedules. */
  function look(): void {
    if (!isRunning) return;
    readOn();
    const rest = createYielder();
    while (underWay.size < atOnce) {
      const owner = places.next(lines.owners());
      if (owner === null) break;
      const due = waiting.get(lines.next(owner)!)!;
      waiting.delete(due.id);
      const giveBack = places.take(owner);
      take(due, () => read(due, rest, fire).finally(giveBack));
    }
    arm();
  }

  /** Reads the next due schedules by fire time; starts over when none is waiting. */
  function readOn(): void {
    if (waiting.size === 0 && !isMore) behind = beginning;
    const due = selectDue.all(now(), behind.next_at_ms, behind.place, perLook);
    for (const one of due) {
      if (underWay.has(one.id) || waiting.has(one.id)) continue;
      waiting.set(one.id, one);
      lines.add(nameOf(one), one.id);
    }
    behind = due.at(-1) ?? behind;
    isMore = due.length === perLook;
  }

  /** Reads the row only when its turn comes, because a schedule's input may be large, and yields first. */
  async function read(due: Scope & { id: string }, rest: () => Promise<void>, use: (row: Row) => Promise<void>) {
    await rest();
    const row = rows.get(due, due.id);
    if (row && isDue(row)) await use(row);
  }

  const isDue = (row: Row | null): boolean => row !== null && row.next_at_ms !== null && row.next_at_ms <= now();

  /** Fires a schedule that waited for this run to end. */
  function heard(runId: string, entries: readonly JournalEntry[]): void {
    const found = isRunning && entries.some(({ event }) => endsRun(event)) && firings.scheduleOf(runId);
    const row = found && rows.get(found, found.id);
    if (row && row.queued_at_ms !== null) follow(row);
  }

  function follow(row: Row): void {
    // A schedule that is firing now looks for it when done.
    if (!underWay.has(row.id)) take(row, () => fireWaiting(row));
  }

  function take({ id, ...schedule }: Scope & { id: string }, work: () => Promise<void>): void {
    const done = work()
      .catch(async (error) => {
        if (!isStorageRefusal(error)) log.error("a schedule could not fire", { schedule_id: id, error });
        // Pause, because storage that accepts no write would be retried at once.
        await Promise.race([Bun.sleep(again_ms), stopping.promise]);
      })
      .then(() => {
        underWay.delete(id);
        const row = isRunning ? rows.get(schedule, id) : null;
        if (isDue(row)) behind = beginning; // Still due, but reading has moved past it: start over.
        if (row && row.queued_at_ms !== null && !firings.isBusy(row)) follow(row);
        arm();
      });
    underWay.set(id, done);
  }

  return {
    arm,
    look,
    heard,
    /** Starts firing, first what an earlier process left. */
    start(): void {
      isRunning = true;
      for (const row of selectQueued.all().map(rowOf)) if (!firings.isBusy(row)) follow(row);
      look();
      replanned = replan(db, now, () => isRunning)
        .then(arm)
        .catch((error) => log.error("the times of schedules were not looked at again", { error }));
    },
    /** For tests: resolves when nothing is firing. */
    async idle(): Promise<void> {
      await replanned;
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
    async stop(): Promise<void> {
      isRunning = false;
      clearTimeout(timer);
      stopping.resolve();
      await Promise.all([replanned, ...underWay.values()]);
    },
  };
}

function queries({ sqlite }: Db) {
  const open = "JOIN projects p ON p.id = s.project_id AND p.archived_at_ms IS NULL AND p.deleted_at_ms IS NULL";
  const columns = columnsOf(schedules, "s");
  return {
    selectNext: sqlite.query<{ id: string; next_at_ms: number }, [number]>(
      `SELECT s.id, s.next_at_ms FROM schedules s CROSS ${open} WHERE s.next_at_ms IS NOT NULL ORDER BY s.next_at_ms LIMIT ?`,
    ),
    selectDue: sqlite.query<Due, [number, number, number, number]>(
      `SELECT s.project_id, s.environment, s.id, s.next_at_ms, s.rowid AS place FROM schedules s CROSS ${open}
       WHERE s.next_at_ms <= ? AND (s.next_at_ms, s.rowid) > (?, ?) ORDER BY s.next_at_ms, s.rowid LIMIT ?`,
    ),
    selectQueued: sqlite.query<Record<string, unknown>, []>(
      `SELECT ${columns} FROM schedules s CROSS ${open} WHERE s.queued_at_ms IS NOT NULL`,
    ),
  };
}

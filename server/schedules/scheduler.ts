import { endsRun, type JournalEntry } from "../core/run-event.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import { isStorageRefusal } from "../db/damage.ts";
import type { Db } from "../db/open.ts";
import { columnsOf, createRows } from "../db/rows.ts";
import { schedules } from "../db/schema.ts";
import { createFairLines } from "../lib/fair/lines.ts";
import { createFairPlaces } from "../lib/fair/places.ts";
import { inSlices } from "../lib/slices.ts";
import { createFire } from "./fire.ts";
import { replan } from "./plans.ts";
import { type Row, rowOf } from "./row.ts";

// A clock that was set, or a machine that slept, is noticed by then: a timer counts neither.
const look_ms = 15_000;
const again_ms = 1000;
const atOnce = 100;
// Of those that are due: a project may have many, and others are served between.
const perLook = 500;

interface Due extends Scope {
  id: string;
  next_at_ms: number;
  /** Its place in the table. */
  place: number;
}

const beginning = { next_at_ms: 0, place: 0 };

/**
 * Starts the runs of schedules when their time comes: one timer for the next one, nothing polls. The plan of a schedule
 * moves on in the write that creates its run, so that no crash loses a time or takes one twice. Of those that are due
 * together owners take turns, however many one of them has.
 */
export function createScheduler({
  db,
  firings,
  log,
  now,
  ...rules
}: Omit<Parameters<typeof createFire>[0], "isRunning">) {
  const rows = createRows(db, schedules);
  const { selectNext, selectDue, selectQueued } = queries(db);
  const places = createFairPlaces({ count: atOnce, reserve: 0 });
  const waiting = new Map<string, Due>();
  const lines = createFairLines<string>();
  // The last one that was read, by its time and its place.
  let behind: Pick<Due, "next_at_ms" | "place"> = beginning;
  let isMore = false;
  const underWay = new Map<string, Promise<void>>();
  const stopping = Promise.withResolvers<void>();
  let isRunning = false;
  let replanned = Promise.resolve();
  let timer: Timer | undefined;
  const { fire, fireWaiting } = createFire({ ...rules, db, firings, isRunning: () => isRunning, log, now });

  /** Sets the timer for the next schedule; to be called when one may have got another time. */
  function arm(): void {
    if (!isRunning) return;
    if (underWay.size >= atOnce && !isMore) return; // Whoever ends arms it again.
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

  /** Fires what is due. */
  function look(): void {
    if (!isRunning) return;
    readOn();
    const rest = inSlices();
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

  /** Reads which ones are due, in the order of their time; from the first one on when none of them waits any more. */
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

  /** A schedule is long where its input is: it is read when its turn has come, and others are answered before. */
  async function read(due: Scope & { id: string }, rest: () => Promise<void>, use: (row: Row) => Promise<void>) {
    await rest();
    const row = rows.get(due, due.id);
    if (row && isDue(row)) await use(row);
  }

  const isDue = (row: Row | null): boolean => row !== null && row.next_at_ms !== null && row.next_at_ms <= now();

  /** Fires what waited for a run, when that is over. */
  function heard(runId: string, entries: readonly JournalEntry[]): void {
    const found = isRunning && entries.some(({ event }) => endsRun(event)) && firings.scheduleOf(runId);
    const row = found && rows.get(found, found.id);
    if (row && row.queued_at_ms !== null) follow(row);
  }

  function follow(row: Row): void {
    // One that is firing right now looks for it when it is done.
    if (!underWay.has(row.id)) take(row, () => fireWaiting(row));
  }

  function take({ id, ...schedule }: Scope & { id: string }, work: () => Promise<void>): void {
    const done = work()
      .catch(async (error) => {
        if (!isStorageRefusal(error)) log.error("a schedule could not fire", { schedule_id: id, error });
        // Storage that takes no write now would be asked without a pause.
        await Promise.race([Bun.sleep(again_ms), stopping.promise]);
      })
      .then(() => {
        underWay.delete(id);
        const row = isRunning ? rows.get(schedule, id) : null;
        if (isDue(row)) behind = beginning; // Others of those that are due were read meanwhile.
        if (row && row.queued_at_ms !== null && !firings.isBusy(row)) follow(row);
        arm();
      });
    underWay.set(id, done);
  }

  return {
    arm,
    look,
    heard,
    /** Begins to fire: after the start, with what an earlier process left. */
    start(): void {
      isRunning = true;
      for (const row of selectQueued.all().map(rowOf)) if (!firings.isBusy(row)) follow(row);
      look();
      replanned = replan(db, now, () => isRunning)
        .then(arm)
        .catch((error) => log.error("the times of schedules were not looked at again", { error }));
    },
    /** For tests: answers when nothing is firing. */
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

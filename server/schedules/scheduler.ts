import type { ErrorCode } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { JournalEntry } from "../core/run-event.ts";
import type { RunInput } from "../core/run-input.ts";
import type { RunStatus } from "../core/run-state.ts";
import { isStorageRefusal } from "../db/damage.ts";
import type { Db } from "../db/open.ts";
import { columnsOf, createReader, createRows } from "../db/rows.ts";
import { schedules } from "../db/schema.ts";
import type { Viewer } from "../http/auth.ts";
import { toAppError } from "../http/errors.ts";
import type { RunAnswer } from "../http/idempotency-store.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Log } from "../lib/log.ts";
import { latestTime } from "./cron.ts";
import { type Firings, isEnd } from "./firings.ts";
import { type Definition, definitionOf, planAfter, type Row, runMetadata } from "./row.ts";

/** What a schedule asks of a run. */
interface Order extends Partial<{ [Name in keyof Definition]: NonNullable<Definition[Name]> }> {
  agent_id: string;
  input: RunInput;
  metadata: Record<string, string>;
  on_concurrency_limit: "reject" | "queue";
}

/** A run as it is when it has just been created. */
interface Created extends RunAnswer {
  status: RunStatus;
}

/** Creates a run; `note` is told of it within the write that does so, and may refuse it by throwing. */
export type StartRun<Run> = (
  scope: Viewer,
  order: Order,
  requestId: string,
  note: (run: Created) => void,
) => Promise<Run>;

/** A planned time whose turn it is. */
interface Turn {
  trigger: "plan" | "catch_up";
  due_at_ms: number;
  /** Whether it waited for the run before it to end. */
  waited: boolean;
}

type Planned = Row & {
  /** Its place among all. */
  place: number;
  /** The last time that was taken, or when the plan was made at the latest: nothing was due in between. */
  since: number;
};

const rowOf = createReader(schedules) as (raw: object) => Row;

/** The schedule is not any more as it was when its turn was found. */
class Superseded extends Error {}

// A clock that was set, or a machine that slept, is noticed by then: a timer counts neither.
const look_ms = 15_000;
// What comes later than this was missed. A process that is started again at once misses nothing.
const grace_ms = 60_000;
const again_ms = 1000;
const atOnce = 100;
// Each takes half a millisecond to work out.
const plansPerWrite = 20;

/** What is no fault of the schedule, and passes: it does not count against it. */
const passing: readonly ErrorCode[] = ["storage_full", "concurrency_limit_exceeded", "overloaded", "shutting_down"];

/**
 * Starts the runs of schedules when their time comes: one timer for the next one, nothing polls. The plan of a schedule
 * moves on in the write that creates its run, so that no crash loses a time or takes one twice.
 */
export function createScheduler({
  db,
  firings,
  start,
  requireRoom,
  isOpen,
  log,
  now,
}: {
  db: Db;
  firings: Firings;
  start: StartRun<unknown>;
  /** Throws `storage_full` when there is no room for new work. */
  requireRoom: () => void;
  /** False for a project that is archived or deleted. */
  isOpen: (projectId: string) => boolean;
  log: Log;
  now: () => number;
}) {
  const rows = createRows(db, schedules);
  const { selectDue, selectQueued, selectPlanned, moving, queueing, taking } = queries(db);
  const underWay = new Map<string, Promise<void>>();
  const stopping = Promise.withResolvers<void>();
  let isRunning = false;
  let replanned = Promise.resolve();
  let timer: Timer | undefined;

  /** Sets the timer for the next schedule; to be called when one may have got another time. */
  function arm(): void {
    if (!isRunning || underWay.size >= atOnce) return; // Whoever ends arms it again.
    clearTimeout(timer);
    const next = selectDue.all(underWay.size + 1).find(({ id }) => !underWay.has(id));
    if (next) wait(next.next_at_ms);
  }

  function wait(at: number): void {
    const left = at - now();
    timer = setTimeout(() => (now() < at ? wait(at) : look()), Math.min(Math.max(0, left), look_ms));
  }

  /** Fires what is due. */
  function look(): void {
    if (!isRunning) return;
    for (const row of selectDue.all(underWay.size + atOnce).map(rowOf)) {
      if (underWay.size >= atOnce || row.next_at_ms! > now()) break;
      if (!underWay.has(row.id)) take(row, () => fire(row));
    }
    arm();
  }

  /** Fires what waited for a run, when that is over. */
  function heard(runId: string, entries: readonly JournalEntry[]): void {
    const found = isRunning && entries.some(isEnd) && firings.scheduleOf(runId);
    const row = found && rows.get(found, found.id);
    if (row && row.queued_at_ms !== null) follow(row);
  }

  function follow(row: Row): void {
    // One that is firing right now looks for it when it is done.
    if (!underWay.has(row.id)) take(row, () => fireWaiting(row));
  }

  function take({ id, ...schedule }: Row, work: () => Promise<void>): void {
    const done = work()
      .catch(async (error) => {
        if (!isStorageRefusal(error)) log.error("a schedule could not fire", { schedule_id: id, error });
        // Storage that takes no write now would be asked without a pause.
        await Promise.race([Bun.sleep(again_ms), stopping.promise]);
      })
      .then(() => {
        underWay.delete(id);
        const row = isRunning ? rows.get(schedule, id) : null;
        if (row && row.queued_at_ms !== null && !firings.isBusy(row)) follow(row);
        arm();
      });
    underWay.set(id, done);
  }

  async function fire(row: Row): Promise<void> {
    failpoint?.("before_schedule.due");
    const due_at_ms = latestTime(row, row.next_at_ms!, now());
    // A clock that was set back shows times again that were taken: whoever changes a plan meanwhile meets them.
    if (firings.isTaken(row, due_at_ms))
      return within(row, () => leave(row, { trigger: "plan", due_at_ms, waited: false }));
    const isLate = now() - due_at_ms > grace_ms;
    if (isLate && row.catch_up === "skip") return settle(row, due_at_ms, "missed");
    const turn: Turn = { trigger: isLate ? "catch_up" : "plan", due_at_ms, waited: false };
    if (row.if_busy === "start" || !firings.isBusy(row)) return begin(row, turn);
    if (row.if_busy === "queue" && row.queued_at_ms === null) return hold(row, due_at_ms);
    return settle(row, due_at_ms, "skipped");
  }

  async function fireWaiting(row: Row): Promise<void> {
    if (!isOpen(row.project_id) || firings.isBusy(row)) return;
    await begin(row, { trigger: "plan", due_at_ms: row.queued_at_ms!, waited: true });
  }

  /** Creates the run of this turn; what refuses it is what came of the turn. */
  async function begin(row: Row, turn: Turn): Promise<void> {
    try {
      requireRoom();
      await start(row, orderOf(row, "queue"), newId("request", now()), (run) => {
        leave(row, turn);
        firings.started(row, turn, run);
        failpoint?.("before_schedule.fired");
      });
      failpoint?.("after_schedule.fired");
    } catch (error) {
      await refused(row, turn, error);
    }
  }

  async function refused(row: Row, turn: Turn, cause: unknown): Promise<void> {
    if (cause instanceof Superseded || !isRunning) return;
    const { code, message } = toAppError(cause);
    if (code === "internal_error") log.error("a schedule met a bug", { schedule_id: row.id, error: cause });
    const error = { code, message: explained(code, message), at_ms: now(), run_id: null };
    await within(row, () => {
      leave(row, turn);
      firings.add(row, { ...turn, outcome: "failed", run_id: null, error });
      if (passing.includes(code)) firings.mention(row, error);
      else firings.fail(row, row.id, error);
    });
  }

  const settle = (row: Row, due_at_ms: number, outcome: "missed" | "skipped"): Promise<void> =>
    within(row, () => {
      const trigger = "plan";
      leave(row, { trigger, due_at_ms, waited: false });
      firings.add(row, { trigger, due_at_ms, outcome, run_id: null, error: null });
    });

  const hold = (row: Row, due_at_ms: number): Promise<void> =>
    within(row, () => {
      leave(row, { trigger: "plan", due_at_ms, waited: false });
      queueing.run(due_at_ms, row.project_id, row.environment, row.id);
    });

  const within = (row: Row, job: () => void): Promise<void> =>
    db.write(job).catch((error) => {
      if (!(error instanceof Superseded)) throw error;
      log.info("a schedule was changed while it fired", { schedule_id: row.id });
    });

  /** Within a write: the turn is taken, unless somebody has changed the schedule since, or put its project away. */
  function leave({ project_id, environment, id, ...row }: Row, { waited, due_at_ms }: Turn): void {
    const plan = planAfter(row, due_at_ms);
    const { changes } = waited
      ? taking.run(project_id, environment, id, due_at_ms)
      : moving.run(plan.next_at_ms, JSON.stringify(plan.next_run_ats), project_id, environment, id, row.next_at_ms);
    if (changes === 0 || !isOpen(project_id)) throw new Superseded();
  }

  /**
   * An update of the executable may know other summer times than those that plans were made by. A time that has gone by
   * for that reason is due. After a clock that was set back plans stand.
   */
  async function replan(): Promise<void> {
    for (let after: number | undefined = 0; after !== undefined && isRunning; ) {
      const begun: number = after;
      after = await db.write(() => {
        const planned = selectPlanned.all(begun, now(), plansPerWrite);
        for (const row of planned) correct(rowOf(row) as Planned);
        return planned.at(-1)?.place;
      });
    }
    arm();
  }

  function correct({ project_id, environment, id, since, ...row }: Planned): void {
    const plan = planAfter(row, since);
    if (Bun.deepEquals(plan.next_run_ats, row.next_run_ats)) return;
    moving.run(plan.next_at_ms, JSON.stringify(plan.next_run_ats), project_id, environment, id, row.next_at_ms);
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
      replanned = replan().catch((error) => log.error("the times of schedules were not looked at again", { error }));
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

/** What a run of this schedule is created with. */
export function orderOf(row: Row, on_concurrency_limit: Order["on_concurrency_limit"]): Order {
  const own = Object.entries(definitionOf(row)).filter(([, value]) => value !== null);
  const { input, ...others } = Object.fromEntries(own) as { input: RunInput };
  return { agent_id: row.agent_id, input, ...others, metadata: runMetadata(row), on_concurrency_limit };
}

const explained = (code: ErrorCode, message: string): string =>
  code === "resource_not_found" ? "The agent is not there any more." : message.slice(0, 1000);

function queries({ sqlite }: Db) {
  const key = "project_id = ? AND environment = ? AND id = ?";
  const open = "JOIN projects p ON p.id = s.project_id AND p.archived_at_ms IS NULL AND p.deleted_at_ms IS NULL";
  const columns = columnsOf(schedules, "s");
  return {
    selectDue: sqlite.query<{ id: string; next_at_ms: number }, [number]>(
      `SELECT ${columns} FROM schedules s CROSS ${open} WHERE s.next_at_ms IS NOT NULL ORDER BY s.next_at_ms LIMIT ?`,
    ),
    selectQueued: sqlite.query<Record<string, unknown>, []>(
      `SELECT ${columns} FROM schedules s CROSS ${open} WHERE s.queued_at_ms IS NOT NULL`,
    ),
    selectPlanned: sqlite.query<{ place: number }, [number, number, number]>(
      `SELECT ${columnsOf(schedules)}, place, since FROM (SELECT ${columns}, s.rowid AS place, max(s.updated_at_ms, coalesce(s.queued_at_ms, 0), coalesce(
           (SELECT max(due_at_ms) FROM schedule_runs f WHERE f.project_id = s.project_id
              AND f.environment = s.environment AND f.schedule_id = s.id AND f.trigger <> 'request'), 0)) AS since
         FROM schedules s WHERE s.rowid > ?1 AND s.next_at_ms > ?2 ORDER BY s.rowid) WHERE since <= ?2 LIMIT ?3`,
    ),
    moving: sqlite.query(`UPDATE schedules SET next_at_ms = ?, next_run_ats = ? WHERE ${key} AND next_at_ms = ?`),
    queueing: sqlite.query(`UPDATE schedules SET queued_at_ms = ? WHERE ${key}`),
    taking: sqlite.query(`UPDATE schedules SET queued_at_ms = NULL WHERE ${key} AND queued_at_ms = ?`),
  };
}

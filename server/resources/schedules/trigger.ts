import { agentDeleted } from "../../domain/error-messages.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { RunInput } from "../../domain/run-input.ts";
import type { RunStatus } from "../../domain/run-state.ts";
import type { Viewer } from "../../http/auth.ts";
import { toAppError } from "../../http/errors.ts";
import type { RunAnswer } from "../../http/idempotency-store.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { Db } from "../../storage/db/open.ts";
import { latestTime } from "./cron.ts";
import { createNextFireTimes } from "./next-fire-times.ts";
import { type Definition, definitionOf, planAfter, type Row, runMetadata } from "./row.ts";
import type { ScheduleRuns } from "./schedule-runs.ts";

/** Parameters of a run that a schedule starts. */
interface Order extends Partial<{ [Name in keyof Definition]: NonNullable<Definition[Name]> }> {
  agent_id: string;
  input: RunInput;
  metadata: Record<string, string>;
  on_concurrency_limit: "reject" | "queue";
}

/** A run right after its creation. */
interface Created extends RunAnswer {
  status: RunStatus;
}

/** Creates a run; `note` is called inside the same write, and may refuse the run by throwing. */
export type StartRun<Run> = (
  scope: Viewer,
  order: Order,
  requestId: string,
  note: (run: Created) => void,
) => Promise<Run>;

/** A fire time that is being handled. */
interface Turn {
  trigger: "plan" | "catch_up";
  due_at_ms: number;
  /** True if it was queued behind another run. */
  waited: boolean;
}

/** A schedule with a fire time. */
export type DueRow = Row & { next_at_ms: number };
/** A schedule with a fire that waits for a run to end. */
export type QueuedRow = Row & { queued_at_ms: number };

export const isQueued = (row: Row): row is QueuedRow => row.queued_at_ms !== null;

/** Thrown if the schedule was changed since its due fire time was determined. */
class Superseded extends Error {}

// Tolerated delay before a fire time counts as missed. A process that restarts at once misses none.
const grace_ms = 60_000;

/** Temporary errors that do not count against the schedule. */
const passing: readonly ErrorCode[] = ["storage_full", "concurrency_limit_exceeded", "overloaded", "shutting_down"];

/**
 * Handles due schedules: a fire time starts a run, is queued, or is skipped. The plan moves on in the write that
 * creates the run, so that a crash neither loses nor repeats a fire time.
 */
export function createTrigger({
  db,
  firings,
  start,
  requireRoom,
  isOpen,
  isRunning,
  log,
  now,
}: {
  db: Db;
  firings: ScheduleRuns;
  start: StartRun<unknown>;
  /** Throws `storage_full` if there is no room for new work. */
  requireRoom: () => void;
  /** False for a project that is archived or deleted. */
  isOpen: (projectId: string) => boolean;
  /** False once the server stops; refusals then do not count against a schedule. */
  isRunning: () => boolean;
  log: Log;
  now: () => number;
}) {
  const plans = createNextFireTimes(db);

  async function fire(row: DueRow): Promise<void> {
    failpoint?.("before_schedule.due");
    const due_at_ms = latestTime(row, row.next_at_ms, now());
    // If the clock was set back, or a plan was changed, the time may have been handled already.
    if (firings.isTaken(row, due_at_ms))
      return writeUnlessSuperseded(row, () => advance(row, { trigger: "plan", due_at_ms, waited: false }));
    const isLate = now() - due_at_ms > grace_ms;
    if (isLate && row.catch_up === "skip") return settle(row, due_at_ms, "missed");
    const turn: Turn = { trigger: isLate ? "catch_up" : "plan", due_at_ms, waited: false };
    if (row.if_busy === "start" || !firings.isBusy(row)) return begin(row, turn);
    if (row.if_busy === "queue" && row.queued_at_ms === null) return queueRun(row, due_at_ms);
    return settle(row, due_at_ms, "skipped");
  }

  async function fireWaiting(row: QueuedRow): Promise<void> {
    if (!isOpen(row.project_id) || firings.isBusy(row)) return;
    await begin(row, { trigger: "plan", due_at_ms: row.queued_at_ms, waited: true });
  }

  /** Creates the run; a refusal becomes the outcome. */
  async function begin(row: Row, turn: Turn): Promise<void> {
    try {
      requireRoom();
      await start(row, orderOf(row, "queue"), newId("request", now()), (run) => {
        advance(row, turn);
        firings.started(row, turn, run);
        failpoint?.("before_schedule.fired");
      });
      failpoint?.("after_schedule.fired");
    } catch (error) {
      await handleRefusal(row, turn, error);
    }
  }

  async function handleRefusal(row: Row, turn: Turn, cause: unknown): Promise<void> {
    if (cause instanceof Superseded || !isRunning()) return;
    const { code, message, param } = toAppError(cause);
    if (code === "internal_error") log.error("a schedule met a bug", { schedule_id: row.id, error: cause });
    const error = { code, message: failureMessage(code, message, param), at_ms: now(), run_id: null };
    await writeUnlessSuperseded(row, () => {
      advance(row, turn);
      firings.add(row, { ...turn, outcome: "failed", run_id: null, error });
      if (passing.includes(code)) firings.mention(row, error);
      else firings.fail(row, row.id, error);
    });
  }

  const settle = (row: Row, due_at_ms: number, outcome: "missed" | "skipped"): Promise<void> =>
    writeUnlessSuperseded(row, () => {
      const trigger = "plan";
      advance(row, { trigger, due_at_ms, waited: false });
      firings.add(row, { trigger, due_at_ms, outcome, run_id: null, error: null });
    });

  const queueRun = (row: Row, due_at_ms: number): Promise<void> =>
    writeUnlessSuperseded(row, () => {
      advance(row, { trigger: "plan", due_at_ms, waited: false });
      plans.queue(row, due_at_ms);
    });

  const writeUnlessSuperseded = (row: Row, job: () => void): Promise<void> =>
    db.write(job).catch((error) => {
      if (!(error instanceof Superseded)) throw error;
      log.info("a schedule was changed while it fired", { schedule_id: row.id });
    });

  /** Moves the schedule on. Throws if it was changed meanwhile, or its project is closed. Call inside a write. */
  function advance(row: Row, { waited, due_at_ms }: Turn): void {
    const isLeft = waited ? plans.unqueue(row, due_at_ms) : plans.move(row, planAfter(row, due_at_ms));
    if (!isLeft || !isOpen(row.project_id)) throw new Superseded();
  }

  return { fire, fireWaiting };
}

/** Returns the parameters of this schedule's next run. */
export function orderOf(row: Row, on_concurrency_limit: Order["on_concurrency_limit"]): Order {
  const own = Object.entries(definitionOf(row)).filter(([, value]) => value !== null);
  const { input, ...others } = Object.fromEntries(own) as { input: RunInput };
  return { agent_id: row.agent_id, input, ...others, metadata: runMetadata(row), on_concurrency_limit };
}

// Only the agent is looked up without a parameter to name: a label or a version that is gone names itself.
const failureMessage = (code: ErrorCode, message: string, param: string | null): string =>
  code === "resource_not_found" && param === null ? agentDeleted : message.slice(0, 1000);

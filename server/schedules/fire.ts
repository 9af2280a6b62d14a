import type { ErrorCode } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { RunInput } from "../core/run-input.ts";
import type { RunStatus } from "../core/run-state.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import { toAppError } from "../http/errors.ts";
import type { RunAnswer } from "../http/idempotency-store.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Log } from "../lib/log.ts";
import { latestTime } from "./cron.ts";
import type { Firings } from "./firings.ts";
import { createPlans } from "./plans.ts";
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

/** The schedule is not any more as it was when its turn was found. */
class Superseded extends Error {}

// What comes later than this was missed. A process that is started again at once misses nothing.
const grace_ms = 60_000;

/** What is no fault of the schedule, and passes: it does not count against it. */
const passing: readonly ErrorCode[] = ["storage_full", "concurrency_limit_exceeded", "overloaded", "shutting_down"];

/**
 * Takes the turns of schedules: what is due starts a run, waits for the one before it, or is skipped. The plan moves on in
 * the write that creates the run, so that no crash loses a time or takes one twice.
 */
export function createFire({
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
  firings: Firings;
  start: StartRun<unknown>;
  /** Throws `storage_full` when there is no room for new work. */
  requireRoom: () => void;
  /** False for a project that is archived or deleted. */
  isOpen: (projectId: string) => boolean;
  /** False once the server stops: what is refused then is no fault of a schedule. */
  isRunning: () => boolean;
  log: Log;
  now: () => number;
}) {
  const plans = createPlans(db);

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
    if (cause instanceof Superseded || !isRunning()) return;
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
      plans.queue(row, due_at_ms);
    });

  const within = (row: Row, job: () => void): Promise<void> =>
    db.write(job).catch((error) => {
      if (!(error instanceof Superseded)) throw error;
      log.info("a schedule was changed while it fired", { schedule_id: row.id });
    });

  /** Within a write: the turn is taken, unless somebody has changed the schedule since, or put its project away. */
  function leave(row: Row, { waited, due_at_ms }: Turn): void {
    const isLeft = waited ? plans.unqueue(row, due_at_ms) : plans.move(row, planAfter(row, due_at_ms));
    if (!isLeft || !isOpen(row.project_id)) throw new Superseded();
  }

  return { fire, fireWaiting };
}

/** What a run of this schedule is created with. */
export function orderOf(row: Row, on_concurrency_limit: Order["on_concurrency_limit"]): Order {
  const own = Object.entries(definitionOf(row)).filter(([, value]) => value !== null);
  const { input, ...others } = Object.fromEntries(own) as { input: RunInput };
  return { agent_id: row.agent_id, input, ...others, metadata: runMetadata(row), on_concurrency_limit };
}

const explained = (code: ErrorCode, message: string): string =>
  code === "resource_not_found" ? "The agent was deleted." : message.slice(0, 1000);

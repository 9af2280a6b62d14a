import type { Database } from "bun:sqlite";
import type { RunFacts } from "../../storage/journal/journal.ts";

// No event reports a changed wall clock or a resume from suspend, so check at this interval.
const look_ms = 15_000;
const again_ms = 1000;
// Maximum number of runs ended at once: after a long downtime everything may be due.
const batch = 100;

type Head = Pick<RunFacts, "run_id" | "expires_at_ms" | "status_since_ms" | "status">;

/** Deadline of a run: `at` by the wall clock, as in its row; `due` by the monotonic clock. */
interface Deadline {
  at: number;
  due: number;
  /** True if the run requires action. */
  waits: boolean;
}

const steadyNow = (): number => performance.now();

/**
 * Ends overdue runs, with one timer for the nearest deadline. A run's remaining time is computed from the wall clock
 * once, when its row is written or the process starts, so that a clock change ends no work. A required action has a
 * deadline that clients know, so it also expires by the wall clock, which is checked periodically.
 */
export function createDeadlines(
  sqlite: Database,
  expire: (runId: string, at: number) => Promise<void>,
  now: () => number,
  {
    headOf = () => null,
    steady = steadyNow,
    every_ms = look_ms,
  }: { headOf?: (runId: string) => Head | null; steady?: () => number; every_ms?: number } = {},
) {
  const selectAll = sqlite.query<Head, []>(
    "SELECT id AS run_id, expires_at_ms, status_since_ms, status FROM runs WHERE expires_at_ms IS NOT NULL",
  );
  const deadlines = new Map<string, Deadline>();
  let timer: Timer | null = null;
  let timerDue = Number.POSITIVE_INFINITY;
  let stopped = false;

  /** Call when a run's deadline may have changed. */
  function look(runId: string): void {
    const head = headOf(runId);
    if (head) track(head);
    else deadlines.delete(runId);
  }

  function track({ run_id: id, expires_at_ms: at, status_since_ms: since, status }: Head): void {
    const existing = deadlines.get(id);
    const waits = status === "requires_action";
    if (at === null) deadlines.delete(id);
    else if (existing?.at !== at || existing.waits !== waits) {
      // Never more than the run's full time: setting the clock back must not extend it.
      const due = steady() + Math.min(at - now(), at - since);
      deadlines.set(id, { at, due, waits });
      arm(due);
    }
  }

  function arm(due: number): void {
    const next = Math.min(due, steady() + every_ms);
    if (stopped || next >= timerDue) return;
    if (timer) clearTimeout(timer);
    timerDue = next;
    timer = setTimeout(() => void fire(), Math.max(0, Math.ceil(next - steady())));
  }

  const isOver = ({ at, due, waits }: Deadline): boolean => due <= steady() || (waits && at <= now());

  async function fire(): Promise<void> {
    timerDue = Number.POSITIVE_INFINITY;
    const expired = [...deadlines].filter(([, deadline]) => isOver(deadline)).slice(0, batch);
    if (expired.length === 0) return armNext();
    const results = await Promise.allSettled(expired.map(([id, { at }]) => end(id, at)));
    if (stopped) return;
    const failures = expired.filter((_, index) => results[index]?.status === "rejected");
    for (const [id, deadline] of failures) putBehind(id, deadline);
    if (failures.length === 0) return armNext();
    // Wait, because storage that refuses writes would be retried without a pause: its runs are still due.
    arm(steady() + again_ms);
  }

  function armNext(): void {
    if (deadlines.size === 0) return;
    arm([...deadlines.values()].reduce((least, { due }) => Math.min(least, due), Number.POSITIVE_INFINITY));
  }

  /** Moves refused runs to the end, so that a batch of them does not delay the others. */
  function putBehind(id: string, deadline: Deadline): void {
    if (deadlines.get(id) !== deadline) return;
    deadlines.delete(id);
    deadlines.set(id, deadline);
  }

  async function end(id: string, at: number): Promise<void> {
    await expire(id, at);
    if (deadlines.get(id)?.at === at) deadlines.delete(id);
  }

  return {
    look,
    /** Loads the deadlines of all runs at start. */
    load: () => selectAll.all().forEach(track),
    /** Removes the deadlines of deleted runs. */
    forgetGone: () => [...deadlines.keys()].forEach(look),
    stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
    },
  };
}

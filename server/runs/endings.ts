import { exceededBy, saidOf } from "../core/budget.ts";
import { runError } from "../core/run-error.ts";
import type { RunError } from "../core/run-event.ts";
import { isOver, type RunState } from "../core/run-state.ts";
import { noUsage } from "../core/usage.ts";
import type { Viewer } from "../http/auth.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import type { Ends } from "./ends.ts";
import type { Pool } from "./pool.ts";
import type { Note, RunStore } from "./store.ts";

interface EndingOptions {
  journal: Journal;
  runs: RunStore;
  pool: Pick<Pool, "abort" | "giveUp">;
  ends: Pick<Ends, "cancelled" | "failed">;
}

/** Ends runs that somebody cancels, or whose time is up. */
export function createEndings({ journal, runs, pool, ends }: EndingOptions) {
  /** Looks again inside the write: it may have moved on in the meantime. */
  const failExpired = (runId: string, at: number): Promise<Inserted[]> =>
    journal.prepared(endingWith(runId), () =>
      journal.commitAll(() => {
        if (runs.expiry(runId) !== at) return [];
        const state = journal.state(runId);
        return ends.failed(state, expiredError(state, at));
      }),
    );

  /** All that is folded when it ends. */
  const endingWith = (runId: string): string[] => [runId, ...runs.unfinishedBelow(runId)];

  return {
    /** Cancels, at once and for good: the journal says so before anybody is told to stop. */
    async cancel(scope: Viewer, runId: string, reason: string | null, note?: Note): Promise<void> {
      // Asked of the row: a run whose trace was deleted has no journal that could be folded.
      const folded = isOver(runs.standing(scope, runId).status) ? [] : endingWith(runId);
      const write = () => {
        const before = runs.standing(scope, runId);
        const inserted = before.status === "cancelled" ? [] : ends.cancelled(before, reason);
        note?.(runs.standing(scope, runId), before.seq);
        return inserted;
      };
      const ended = await journal.prepared(folded, () => journal.commitAll(write, scope));
      for (const id of [runId, ...ended.map(([id]) => id)]) pool.abort(id);
    },
    /** Fails a run whose time is up; one whose journal is damaged is given up, or it would be asked for ever. */
    async expire(runId: string, at: number): Promise<void> {
      try {
        for (const [id] of await failExpired(runId, at)) pool.abort(id);
      } catch (error) {
        if (!(await pool.giveUp(runId, error))) throw error;
        pool.abort(runId);
      }
    },
  };
}

/** Which of a run's deadlines came at this time. */
function expiredError(state: RunState, at: number): RunError {
  const budget = state.run!.budget ?? null;
  const spent = exceededBy(budget, { usage: noUsage, wall_ms: at - state.started_at! });
  if (spent) return runError("budget_exceeded", saidOf(spent), state);
  if (state.status === "requires_action")
    return runError("action_expired", "The required action was not answered in time (action_timeout_ms).", state);
  return runError("run_timeout", `The run took longer than ${state.run!.timeout_ms} ms (timeout_ms).`, state);
}

import { budgetMessage, findExceeded } from "../../domain/budget.ts";
import { runError } from "../../domain/run-error.ts";
import type { RunError } from "../../domain/run-event.ts";
import { isOver, type RunState } from "../../domain/run-state.ts";
import { noUsage } from "../../domain/usage.ts";
import type { Viewer } from "../../http/auth.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import type { Pool } from "../dispatch/pool.ts";
import type { Note, RunStore } from "../store.ts";
import type { RunTerminator } from "./terminate-run.ts";

interface EndingOptions {
  journal: Journal;
  runs: RunStore;
  pool: Pool;
  ends: RunTerminator;
}

/** Cancels runs and expires overdue ones. */
export function createCancelAndExpire({ journal, runs, pool, ends }: EndingOptions) {
  /** Re-checks the deadline inside the write, because the run may have moved on. */
  const failExpired = (runId: string, at: number): Promise<Inserted[]> =>
    journal.prepared(endingWith(runId), () =>
      journal.commitAll(() => {
        if (runs.expiry(runId) !== at) return [];
        const state = journal.state(runId);
        return ends.failed(state, expiredError(state, at));
      }),
    );

  /** Returns the runs whose journals are folded when this run ends. */
  const endingWith = (runId: string): string[] => [runId, ...runs.unfinishedBelow(runId)];

  return {
    /** Cancels a run. The journal has the end before any loop is aborted. */
    async cancel(scope: Viewer, runId: string, reason: string | null, note?: Note): Promise<void> {
      // The row decides: a run whose trace was deleted has no journal to fold.
      const folded = isOver(runs.standing(scope, runId).status) ? [] : endingWith(runId);
      const write = () => {
        const before = runs.standing(scope, runId);
        const inserted = before.status === "cancelled" ? [] : ends.cancelled(before, reason);
        note?.(runs.standing(scope, runId), before.seq);
        return inserted;
      };
      const changes = await journal.prepared(folded, () => journal.commitAll(write, scope));
      for (const id of [runId, ...changes.map(([id]) => id)]) pool.abort(id);
    },
    /** Fails an overdue run. Gives up a run with a damaged journal, which would otherwise be retried forever. */
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

/** Returns the error of the deadline that passed at this time. */
function expiredError(state: RunState, at: number): RunError {
  const budget = state.run.budget ?? null;
  const exceeded = findExceeded(budget, { usage: noUsage, wall_ms: at - state.started_at! });
  if (exceeded) return runError("budget_exceeded", budgetMessage(exceeded), state);
  if (state.status === "requires_action")
    return runError("action_expired", "The required action was not answered in time (action_timeout_ms).", state);
  return runError("run_timeout", `The run took longer than ${state.run.timeout_ms} ms (timeout_ms).`, state);
}

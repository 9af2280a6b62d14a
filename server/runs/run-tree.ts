import type { Database } from "bun:sqlite";
import { isOver, type RunStatus } from "../domain/run-state.ts";
import type { Journal } from "../storage/journal/journal.ts";
import { isShown } from "../storage/journal/journal.ts";

/** Queries for parent and child runs. */
export function createRunTree(sqlite: Database, journal: Journal) {
  const selectChild = sqlite.query<{ id: string }, [string, string]>(
    "SELECT id FROM runs WHERE parent_run_id = ? AND parent_call_id = ?",
  );
  // Deepest first, because a run's cost is known only once its descendants have ended.
  const selectBelow = sqlite.query<{ id: string; status: RunStatus }, [string]>(
    `WITH RECURSIVE below (id) AS (
       SELECT id FROM runs WHERE parent_run_id = ? AND ${isShown}
       UNION ALL SELECT r.id FROM below CROSS JOIN runs r ON r.parent_run_id = below.id)
     SELECT runs.id, status FROM below CROSS JOIN runs ON runs.id = below.id ORDER BY depth DESC, runs.id`,
  );
  // Both start from the few unfinished runs, by runs_expiry and runs_paused, not from all runs with a parent.
  const selectWithOrphans = sqlite.query<{ id: string }, []>(
    `SELECT DISTINCT c.parent_run_id AS id FROM runs c
     WHERE (c.expires_at_ms IS NOT NULL OR c.status = 'paused') AND c.parent_run_id IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM runs p WHERE p.id = c.parent_run_id AND p.ended_at_ms IS NULL)`,
  );
  const selectWaitingParents = sqlite.query<{ id: string }, []>(
    `SELECT id FROM runs p WHERE expires_at_ms IS NOT NULL AND status = 'requires_action'
       AND EXISTS (SELECT 1 FROM runs c WHERE c.parent_run_id = p.id)`,
  );

  /** Returns all descendants of a run, deepest first. A root run without descendants needs no query. */
  const below = (id: string) => {
    const head = journal.head(id);
    return head?.parent_run_id === null && head.runs_below === 0 ? [] : selectBelow.all(id);
  };

  return {
    /** Returns the run that a call started; null if none. */
    childOf: (runId: string, callId: string): string | null => selectChild.get(runId, callId)?.id ?? null,
    /** Number of descendants of a root run, including deleted ones. */
    countBelow: (rootId: string): number => journal.head(rootId)?.runs_below ?? 0,
    below: (id: string): string[] => below(id).map((run) => run.id),
    unfinishedBelow: (id: string): string[] => below(id).flatMap((run) => (isOver(run.status) ? [] : [run.id])),
    /** Returns finished runs that have an unfinished child. */
    withOrphans: (): string[] => selectWithOrphans.all().map(({ id }) => id),
    /** Returns runs that require action and have child runs. */
    waitingParents: (): string[] => selectWaitingParents.all().map(({ id }) => id),
  };
}

import type { Database } from "bun:sqlite";
import { isOver, type RunStatus } from "../core/run-state.ts";
import type { Journal } from "../journal/journal.ts";
import { isShown } from "../journal/journal.ts";

/** Which runs started which others, by calls of agent tools. */
export function createRunTree(sqlite: Database, journal: Pick<Journal, "head">) {
  const selectChild = sqlite.query<{ id: string }, [string, string]>(
    "SELECT id FROM runs WHERE parent_run_id = ? AND parent_call_id = ?",
  );
  // Deepest first: what a run has cost is known when those below it have ended.
  const selectBelow = sqlite.query<{ id: string; status: RunStatus }, [string]>(
    `WITH RECURSIVE below (id) AS (
       SELECT id FROM runs WHERE parent_run_id = ? AND ${isShown}
       UNION ALL SELECT r.id FROM below CROSS JOIN runs r ON r.parent_run_id = below.id)
     SELECT runs.id, status FROM below CROSS JOIN runs ON runs.id = below.id ORDER BY depth DESC, runs.id`,
  );
  // Both begin with the few that are not over, by runs_expiry, and not with all that ever had a parent.
  const selectWithOrphans = sqlite.query<{ id: string }, []>(
    `SELECT DISTINCT c.parent_run_id AS id FROM runs c
     WHERE c.expires_at_ms IS NOT NULL AND c.parent_run_id IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM runs p WHERE p.id = c.parent_run_id AND p.ended_at_ms IS NULL)`,
  );
  const selectWaitingParents = sqlite.query<{ id: string }, []>(
    `SELECT id FROM runs p WHERE expires_at_ms IS NOT NULL AND status = 'requires_action'
       AND EXISTS (SELECT 1 FROM runs c WHERE c.parent_run_id = p.id)`,
  );

  /** All runs below a run, deepest first; most have none, and those at the top of a tree know. */
  const below = (id: string) => {
    const head = journal.head(id);
    return head?.parent_run_id === null && head.runs_below === 0 ? [] : selectBelow.all(id);
  };

  return {
    /** The run that a call started. */
    childOf: (runId: string, callId: string): string | null => selectChild.get(runId, callId)?.id ?? null,
    /** How many runs came of one at the top of a tree, also those that were deleted since. */
    countBelow: (rootId: string): number => journal.head(rootId)?.runs_below ?? 0,
    below: (id: string): string[] => below(id).map((run) => run.id),
    unfinishedBelow: (id: string): string[] => below(id).flatMap((run) => (isOver(run.status) ? [] : [run.id])),
    /** Runs that are over while one of theirs is not. */
    withOrphans: (): string[] => selectWithOrphans.all().map(({ id }) => id),
    /** Runs that wait for somebody and have started others. */
    waitingParents: (): string[] => selectWaitingParents.all().map(({ id }) => id),
  };
}

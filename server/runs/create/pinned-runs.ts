import type { Database } from "bun:sqlite";
import { AppError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";

/** Runs and their ancestors, because a descendant's work is part of its ancestor's. */
const withAbove = (ids: string): string => `
  WITH RECURSIVE above (id) AS (
    ${ids} UNION
    SELECT r.parent_run_id FROM above JOIN runs r ON r.id = above.id WHERE r.parent_run_id IS NOT NULL)
  SELECT id FROM above`;

/** SQL condition: neither the run nor one of its ancestors is pinned by a suite. */
export const isNotPinned = `NOT EXISTS (
  SELECT 1 FROM suite_cases s
  WHERE s.project_id = runs.project_id AND s.environment = runs.environment
    AND s.run_id IN (${withAbove("SELECT runs.id")}))`;

/** Throws `run_pinned` if a suite pins one of these runs, because the suite compares its agent with it. */
export function createRequireUnpinned(sqlite: Database) {
  const select = sqlite.query<{ suite_id: string }, [string, string, string]>(
    `SELECT DISTINCT suite_id FROM suite_cases WHERE project_id = ? AND environment = ?
       AND run_id IN (${withAbove("SELECT value FROM json_each(?)")}) ORDER BY suite_id LIMIT 100`,
  );
  return function requireUnpinned({ project_id, environment }: Scope, ids: readonly string[]): void {
    const suite_ids = select.all(project_id, environment, JSON.stringify(ids)).map(({ suite_id }) => suite_id);
    if (suite_ids.length === 0) return;
    const message =
      "A suite pins this run, its parent run or one of its subagent runs. Remove it from the suite first.";
    throw new AppError("run_pinned", message, { details: { suite_ids } });
  };
}

/** Call inside a write. Removes a run from every suite, and its results from suite runs. */
export function createUnpin(sqlite: Database) {
  const runCondition = "project_id = ? AND environment = ? AND run_id = ?";
  const deleteCases = sqlite.query(`DELETE FROM suite_cases WHERE ${runCondition}`);
  const clearResults = sqlite.query(`UPDATE suite_run_cases SET result = NULL WHERE ${runCondition}`);
  return function unpin({ project_id, environment }: Scope, id: string): void {
    deleteCases.run(project_id, environment, id);
    clearResults.run(project_id, environment, id);
  };
}

import type { SQLQueryBindings } from "bun:sqlite";
import type { CaseStatus } from "../../domain/api-types/enums.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { listPage, type Page } from "../../http/page.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import { suiteRunCases, suiteRuns } from "../../storage/db/schema.ts";
import { columnsOf, createReader, createScopedTable } from "../../storage/db/scoped-table.ts";
import {
  type CaseResult,
  type CaseRow,
  type Counts,
  type LiveResult,
  type PinnedRow,
  type SuiteRow,
  type SuiteRunRow,
  serializeCase,
  serializeSuiteRun,
} from "./row.ts";
import type { StartSuiteRun } from "./schema.ts";
import { visibleCases } from "./visible-cases.ts";

// Each runs its cases one by one, and all of them take turns.
const inProgressMax = 10;
// A build server creates one at every change.
const keptMax = 50;
const forgottenPerWrite = 2;

type Stored = Record<string, unknown>;
const columns = columnsOf(suiteRuns);
const rowOf = createReader(suiteRuns);

export type SuiteRuns = ReturnType<typeof createSuiteRuns>;

/** Stores suite runs with the results of their cases. */
export function createSuiteRuns({ db, now }: { db: Db; now: () => number }) {
  const { sqlite } = db;
  type Key = [string, string, string];
  const key = "project_id = ? AND environment = ?";
  const rows = createScopedTable(db, suiteRuns);
  const selectCases = sqlite.query<CaseRow, Key>(
    `SELECT position, run_id, agent_id, status, result FROM suite_run_cases
     WHERE ${key} AND suite_run_id = ? ORDER BY position`,
  );
  const selectPending = sqlite.query<CaseRow, Key>(
    `SELECT position, run_id, agent_id, status, result FROM suite_run_cases
     WHERE ${key} AND suite_run_id = ? AND status = 'pending' ORDER BY position LIMIT 1`,
  );
  const selectForks = sqlite.query<{ live: string }, Key>(
    `SELECT result ->> '$.live' AS live FROM suite_run_cases
     WHERE ${key} AND suite_run_id = ? AND result ->> '$.live.run_id' IS NOT NULL ORDER BY position`,
  );
  const selectCounts = sqlite.query<{ status: CaseStatus; n: number }, Key>(
    `SELECT status, count(*) AS n FROM suite_run_cases WHERE ${key} AND suite_run_id = ? GROUP BY status`,
  );
  const countInProgress = sqlite.query<{ n: number }, [string, string]>(
    `SELECT count(*) AS n FROM suite_runs WHERE ${key} AND ended_at_ms IS NULL`,
  );
  const selectUnfinished = sqlite.query<Stored, []>(
    `SELECT ${columns} FROM suite_runs WHERE ended_at_ms IS NULL ORDER BY id`,
  );
  const selectUnfinishedOf = sqlite.query<Stored, Key>(
    `SELECT ${columns} FROM suite_runs WHERE ${key} AND suite_id = ? AND ended_at_ms IS NULL`,
  );
  const changingCase = sqlite.query(
    `UPDATE suite_run_cases SET status = ?, result = ? WHERE ${key} AND suite_run_id = ? AND position = ?`,
  );
  const ending = sqlite.query(
    `UPDATE suite_runs SET status = ?, ended_at_ms = ? WHERE ${key} AND id = ? AND ended_at_ms IS NULL`,
  );
  const clearResult = sqlite.query(
    `DELETE FROM suite_runs WHERE ${key} AND id IN (
       SELECT id FROM suite_runs WHERE ${key} AND suite_id = ? AND (ended_at_ms IS NOT NULL OR ? = 0)
       ORDER BY id DESC LIMIT ${forgottenPerWrite} OFFSET ?)`,
  );

  /** Finds a run of this suite. Throws 404 if a case is of an agent that the viewer may not use. */
  function find(viewer: Viewer, suiteId: string, id: string): SuiteRunRow {
    const row = rows.find(viewer, id);
    if (row.suite_id !== suiteId) throw notFound();
    const { agent_ids } = viewer;
    if (agent_ids && !casesOf(row).every(({ agent_id }) => agent_ids.includes(agent_id))) throw notFound();
    return row;
  }

  const casesOf = ({ project_id, environment, id }: Scope & { id: string }): CaseRow[] =>
    selectCases.all(project_id, environment, id);

  function countsOf({ project_id, environment, id }: Scope & { id: string }): Counts {
    const counts: Counts = { pending: 0, equal: 0, diverged: 0, failed: 0 };
    for (const { status, n } of selectCounts.all(project_id, environment, id)) counts[status] = n;
    return counts;
  }

  const shown = (row: SuiteRunRow) => ({
    ...serializeSuiteRun(row, countsOf(row)),
    cases: casesOf(row).map(serializeCase),
  });

  /** Call inside a write. Deletes some of the oldest but the newest `keep`; true if any were deleted. */
  function forgetOldest({ project_id, environment }: Scope, suiteId: string, keep: number): boolean {
    const { changes } = clearResult.run(project_id, environment, project_id, environment, suiteId, keep, keep);
    return changes > 0;
  }

  return {
    find,
    get: (viewer: Viewer, suiteId: string, id: string) => shown(find(viewer, suiteId, id)),
    list: (viewer: Viewer, suiteId: string, page: Page) =>
      listPage(
        db,
        {
          table: suiteRuns,
          kind: "suite_run",
          scope: viewer,
          page,
          where: [
            { sql: "suite_id = ?", values: [suiteId] },
            ...visibleCases(viewer, "suite_runs", "suite_run_cases", "suite_run_id"),
          ],
        },
        (row) => serializeSuiteRun(row, countsOf(row)),
      ),

    /** The newest suite run that the viewer may see. */
    lastOf(viewer: Viewer, suiteId: string) {
      const visibility = visibleCases(viewer, "suite_runs", "suite_run_cases", "suite_run_id");
      const where = [key, "suite_id = ?", ...visibility.map(({ sql }) => sql)].join(" AND ");
      const row = sqlite
        .query<Stored, SQLQueryBindings[]>(`SELECT ${columns} FROM suite_runs WHERE ${where} ORDER BY id DESC LIMIT 1`)
        .get(viewer.project_id, viewer.environment, suiteId, ...visibility.flatMap(({ values }) => values));
      return row && serializeSuiteRun(rowOf(row), countsOf(rowOf(row)));
    },

    /** Call inside a write. Inserts a suite run with all its cases pending. */
    insert({ id: suiteId, project_id, environment }: SuiteRow, cases: readonly PinnedRow[], body: StartSuiteRun) {
      if (onlyRow(countInProgress.get(project_id, environment)).n >= inProgressMax)
        throw new AppError(
          "concurrency_limit_exceeded",
          `At most ${inProgressMax} suite runs may be in progress at once.`,
          {
            retryAfter: 5,
          },
        );
      const [id, at] = [newId("suite_run", now()), now()];
      const scope = { project_id, environment };
      const { live, metadata = {} } = body;
      const row = rows.insert(scope, {
        id,
        suite_id: suiteId,
        status: "in_progress",
        live,
        metadata,
        created_at_ms: at,
      });
      for (const { position, run_id, agent_id } of cases)
        db.orm
          .insert(suiteRunCases)
          .values({ ...scope, suite_run_id: id, position, run_id, agent_id, status: "pending" })
          .run();
      forgetOldest(scope, suiteId, keptMax);
      return row;
    },

    unfinished: (): SuiteRunRow[] => selectUnfinished.all().map(rowOf),
    unfinishedOf: ({ project_id, environment }: Scope, suiteId: string): SuiteRunRow[] =>
      selectUnfinishedOf.all(project_id, environment, suiteId).map(rowOf),
    /** The first pending case. */
    nextCase: ({ project_id, environment, id }: SuiteRunRow): CaseRow | null =>
      selectPending.get(project_id, environment, id),

    /** Results of the live forks so far. */
    forks: ({ project_id, environment, id }: SuiteRunRow): LiveResult[] =>
      selectForks.all(project_id, environment, id).map(({ live }) => JSON.parse(live)),

    /** Call inside a write. Stores a case's result; false if the case was deleted meanwhile. */
    putCase(row: SuiteRunRow, { position }: CaseRow, status: CaseStatus, result: CaseResult): boolean {
      const key: Key = [row.project_id, row.environment, row.id];
      return changingCase.run(status, JSON.stringify(result), ...key, position).changes > 0;
    },

    /** Call inside a write. Ends a suite run unless it is over. Pending cases count as failed. */
    end({ project_id, environment, id }: SuiteRunRow, cancelled: boolean): void {
      const { pending, failed, diverged } = countsOf({ project_id, environment, id });
      const outcome = failed + pending > 0 ? "failed" : diverged > 0 ? "diverged" : "passed";
      ending.run(cancelled ? "cancelled" : outcome, now(), project_id, environment, id);
    },

    /** Call inside a write. Deletes some suite runs of a suite; true if any were deleted. */
    forgetSome: (scope: Scope, suiteId: string): boolean => forgetOldest(scope, suiteId, 0),
  };
}

import { sql } from "drizzle-orm";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid, throwIfInvalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import { createNameValidator, nameIssues } from "../../http/validate-name.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { suites } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { type PinnedRow, type SuiteRow, serializeSuite } from "./row.ts";
import type { CreateSuite, UpdateSuite } from "./schema.ts";
import type { SuiteRuns } from "./suite-runs.ts";
import { visibleCases } from "./visible-cases.ts";

interface SuiteStoreOptions extends StoreBase {
  /** Returns the rows that pin these runs; throws for runs that cannot be pinned. */
  pin: (viewer: Viewer, runIds: readonly string[], param?: string) => Promise<PinnedRow[]>;
  inputOf: (runId: string) => string | null;
  suiteRuns: SuiteRuns;
}

export type SuiteStore = ReturnType<typeof createSuiteStore>;

export function createSuiteStore({ db, audit, pin, inputOf, suiteRuns, now = Date.now }: SuiteStoreOptions) {
  const { sqlite } = db;
  const rows = createScopedTable(db, suites);
  const requireFreeName = createNameValidator(sqlite, "suites", "suite");
  const selectCases = sqlite.query<PinnedRow, [string, string, string]>(
    `SELECT run_id, position, agent_id, status, output FROM suite_cases
     WHERE project_id = ? AND environment = ? AND suite_id = ? ORDER BY position`,
  );
  const insertCase = sqlite.query(
    `INSERT INTO suite_cases (project_id, environment, suite_id, run_id, position, agent_id, status, output)
     SELECT project_id, environment, ?, id, ?, agent_id, status, ?
     FROM runs WHERE id = ? AND project_id = ? AND environment = ? AND summary IS NULL`,
  );
  const deleteCases = sqlite.query("DELETE FROM suite_cases WHERE project_id = ? AND environment = ? AND suite_id = ?");

  const casesOf = ({ id, project_id, environment }: Omit<SuiteRow, "cases_count">): PinnedRow[] =>
    selectCases.all(project_id, environment, id);

  /**
   * Finds a suite. Throws 404 for another scope's suite, and for one with a run of an agent that the viewer may not
   * use.
   */
  function find(viewer: Viewer, id: string): SuiteRow {
    const row = rows.find(viewer, id);
    const cases = casesOf(row);
    const { agent_ids } = viewer;
    if (agent_ids && !cases.every(({ agent_id }) => agent_ids.includes(agent_id))) throw notFound();
    return { ...row, cases_count: cases.length };
  }

  /** Reads each run's input, with pauses: there may be hundreds of long ones. */
  async function shown({ row, pinned }: { row: SuiteRow; pinned: readonly PinnedRow[] }) {
    const yieldTurn = createYielder();
    const cases: (PinnedRow & { input: string | null })[] = [];
    for (const each of pinned) {
      cases.push({ ...each, input: inputOf(each.run_id) });
      await yieldTurn();
    }
    return { ...serializeSuite(row), cases };
  }

  function read(viewer: Viewer, id: string) {
    const row = find(viewer, id);
    return { row, pinned: casesOf(row) };
  }

  function setCases(scope: Viewer, id: string, cases: readonly PinnedRow[], param = "run_ids"): void {
    const { project_id, environment } = scope;
    deleteCases.run(project_id, environment, id);
    for (const { run_id, position, output } of cases) {
      const { changes } = insertCase.run(id, position, output, run_id, project_id, environment);
      // The run was deleted after the check.
      if (changes === 0) throw invalid(param, `There is no run ${run_id}.`);
    }
  }

  async function create(author: Author & Viewer, { name, run_ids, description, metadata }: CreateSuite) {
    throwIfInvalid(nameIssues(name));
    const cases = await pin(author, run_ids);
    const created = await db.write(() => {
      const [id, at] = [newId("suite", now()), now()];
      requireFreeName(author, name, id);
      const times = { created_at_ms: at, updated_at_ms: at };
      rows.insert(author, { id, name, description, metadata: metadata ?? {}, ...times });
      setCases(author, id, cases);
      audit.note(author, "suite.created", id, { name, cases: cases.length });
      return read(author, id);
    });
    return shown(created);
  }

  async function update(author: Author & Viewer, id: string, input: UpdateSuite) {
    find(author, id); // First, because an unknown suite is 404 whatever the body says.
    throwIfInvalid(nameIssues(input.name));
    const param = input.add_run_ids ? "add_run_ids" : "run_ids";
    const pinned = await pin(author, input[param] ?? [], param);
    const changed = await db.write(() => {
      const row = find(author, id);
      const { name = row.name, description, metadata } = input;
      requireFreeName(author, name, id);
      rows.update(author, id, { name, description, metadata, updated_at_ms: now() });
      const cases = changedCases(casesOf(row), pinned, input);
      if (cases) setCases(author, id, cases, param);
      audit.note(author, "suite.updated", id, { name, changes: Object.keys(input) });
      return read(author, id);
    });
    return shown(changed);
  }

  return {
    create,
    update,
    find,
    casesOf,
    get: (viewer: Viewer, id: string) => shown(read(viewer, id)),
    list(viewer: Viewer, page: Page) {
      const where = visibleCases(viewer, "suites", "suite_cases", "suite_id");
      const more = { cases_count: countCases };
      return listPage(db, { table: suites, kind: "suite", more, scope: viewer, page, where }, (row) => ({
        ...serializeSuite(row),
        last_suite_run: suiteRuns.lastOf(viewer, row.id),
      }));
    },
    /** Deletes a suite with its results and unpins its runs. */
    async remove(author: Author & Viewer, id: string) {
      find(author, id);
      while (await db.write(() => suiteRuns.forgetSome(author, id)));
      await db.write(() => {
        const { name, cases_count } = find(author, id);
        rows.remove(author, id);
        audit.note(author, "suite.deleted", id, { name, cases: cases_count });
      });
      return { id, object: "suite" as const, deleted: true };
    },
  };
}

const countCases = sql<number>`SELECT count(*) FROM suite_cases c WHERE c.project_id = suites.project_id
  AND c.environment = suites.environment AND c.suite_id = suites.id`;

/**
 * Returns the pinned runs after a change: `pinned` replaces all, or is appended after removing some. Undefined if the
 * change does not concern runs.
 */
function changedCases(
  cases: readonly PinnedRow[],
  pinned: readonly PinnedRow[],
  { run_ids, add_run_ids, remove_run_ids }: UpdateSuite,
): readonly PinnedRow[] | undefined {
  if (!add_run_ids && !remove_run_ids) return run_ids && pinned;
  const param = add_run_ids ? "add_run_ids" : "remove_run_ids";
  if (run_ids) throw invalid(param, "Give either run_ids, or add_run_ids and remove_run_ids.");
  const remaining = cases.filter(({ run_id }) => !remove_run_ids?.includes(run_id));
  const remainingIds = new Set(remaining.map(({ run_id }) => run_id));
  const changed = [...remaining, ...pinned.filter(({ run_id }) => !remainingIds.has(run_id))];
  if (changed.length === 0) throw invalid(param, "A suite must pin at least one run.");
  if (changed.length > limits.cases_per_suite)
    throw invalid(param, `A suite pins at most ${limits.cases_per_suite} runs.`);
  return changed.map((each, index) => ({ ...each, position: index + 1 }));
}

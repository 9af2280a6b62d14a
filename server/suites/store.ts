import { sql } from "drizzle-orm";
import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { notFound } from "../core/not-found.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { createRows } from "../db/rows.ts";
import { suites } from "../db/schema.ts";
import type { Viewer } from "../http/auth.ts";
import { invalid, refuse } from "../http/errors.ts";
import { createNameCheck, nameFaults } from "../http/name-fault.ts";
import { listPage, type Page } from "../http/page.ts";
import { inSlices } from "../lib/slices.ts";
import { ownOnly } from "./own-only.ts";
import { type PinnedRow, type SuiteRow, shownSuite } from "./row.ts";
import type { CreateSuite, UpdateSuite } from "./schema.ts";
import type { SuiteRuns } from "./suite-runs.ts";

interface SuiteStoreOptions extends StoreBase {
  /** What is pinned of these runs; throws for those that cannot be. */
  pin: (viewer: Viewer, runIds: readonly string[], param?: string) => Promise<PinnedRow[]>;
  inputOf: (runId: string) => string | null;
  suiteRuns: Pick<SuiteRuns, "forgetSome" | "lastOf">;
}

export type SuiteStore = ReturnType<typeof createSuiteStore>;

export function createSuiteStore({ db, audit, pin, inputOf, suiteRuns, now = Date.now }: SuiteStoreOptions) {
  const { sqlite } = db;
  const rows = createRows(db, suites);
  const requireFreeName = createNameCheck(sqlite, "suites", "suite");
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

  /** Another scope's suite, or one that pins a run of an agent that is not the viewer's, is not there. */
  function find(viewer: Viewer, id: string): SuiteRow {
    const row = rows.find(viewer, id);
    const cases = casesOf(row);
    const { agent_ids } = viewer;
    if (agent_ids && !cases.every(({ agent_id }) => agent_ids.includes(agent_id))) throw notFound();
    return { ...row, cases_count: cases.length };
  }

  /** Reads of each run what it was asked: hundreds of them, and each may be long. */
  async function shown({ row, pinned }: { row: SuiteRow; pinned: readonly PinnedRow[] }) {
    const rest = inSlices();
    const cases: (PinnedRow & { input: string | null })[] = [];
    for (const each of pinned) {
      cases.push({ ...each, input: inputOf(each.run_id) });
      await rest();
    }
    return { ...shownSuite(row), cases };
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
      // Deleted since it was looked at.
      if (changes === 0) throw invalid(param, `There is no run ${run_id}.`);
    }
  }

  async function create(author: Author & Viewer, { name, run_ids, description, metadata }: CreateSuite) {
    refuse(nameFaults(name));
    const cases = await pin(author, run_ids);
    const made = await db.write(() => {
      const [id, at] = [newId("suite", now()), now()];
      requireFreeName(author, name, id);
      const times = { created_at_ms: at, updated_at_ms: at };
      rows.insert(author, { id, name, description, metadata: metadata ?? {}, ...times });
      setCases(author, id, cases);
      audit.note(author, "suite.created", id, { name, cases: cases.length });
      return read(author, id);
    });
    return shown(made);
  }

  async function update(author: Author & Viewer, id: string, input: UpdateSuite) {
    find(author, id); // What is not there is not there, whatever the body says.
    refuse(nameFaults(input.name));
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
      const where = ownOnly(viewer, "suites", "suite_cases", "suite_id");
      const more = { cases_count: countCases };
      return listPage(db, { table: suites, kind: "suite", more, scope: viewer, page, where }, (row) => ({
        ...shownSuite(row),
        last_suite_run: suiteRuns.lastOf(viewer, row.id),
      }));
    },
    /** What came of it goes along; its runs are free again. */
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
 * What a suite pins after a change: `pinned` in place of all, or without those that go and with those that come behind
 * the others. Undefined where the change says nothing of its runs.
 */
function changedCases(
  cases: readonly PinnedRow[],
  pinned: readonly PinnedRow[],
  { run_ids, add_run_ids, remove_run_ids }: UpdateSuite,
): readonly PinnedRow[] | undefined {
  if (!add_run_ids && !remove_run_ids) return run_ids && pinned;
  const param = add_run_ids ? "add_run_ids" : "remove_run_ids";
  if (run_ids) throw invalid(param, "Give either run_ids, or add_run_ids and remove_run_ids.");
  const kept = cases.filter(({ run_id }) => !remove_run_ids?.includes(run_id));
  const known = new Set(kept.map(({ run_id }) => run_id));
  const changed = [...kept, ...pinned.filter(({ run_id }) => !known.has(run_id))];
  if (changed.length === 0) throw invalid(param, "A suite must pin at least one run.");
  if (changed.length > limits.cases_per_suite)
    throw invalid(param, `A suite pins at most ${limits.cases_per_suite} runs.`);
  return changed.map((each, index) => ({ ...each, position: index + 1 }));
}

import { nanoUsd, usdOf } from "../../domain/cost.ts";
import { endsRun } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Projector } from "../../storage/journal/journal.ts";

/** A label's runs of a version, since it holds its present versions. */
interface RunsOfVersion extends Scope {
  label_id: string;
  moved_revision: number;
  version: number;
}

/** A run of a label that has ended. */
export interface EndedLabelRun extends Scope {
  label_id: string;
  revision: number;
  version: number;
}

const columns = "project_id, environment, run_id, status, worked_ms, input_tokens, output_tokens, cost_nano_usd";

// The newest runs of a version that a rule judges, so that a fault which begins late is noticed too.
const judgedMost = 1000;
// The newest runs of a version that a report counts.
const reportedMost = 10_000;

/** Counts the runs of labels: writes them down with the runs' own entries, and reads them by version. */
export function createLabelRuns({ sqlite, kept }: Db) {
  const selectAny = sqlite.query<unknown, [string, string]>(
    "SELECT 1 FROM agent_labels WHERE project_id = ? AND environment = ? LIMIT 1",
  );
  // Cached per project, because most runs end where no agent has a label.
  const hasLabels = kept.rows(
    (...scope: [project_id: string, environment: string]) => selectAny.get(...scope) !== null,
  );
  const insert = sqlite.query(
    `INSERT INTO label_runs (project_id, environment, run_id, label_id, revision, version)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6
     WHERE EXISTS (SELECT 1 FROM agent_labels WHERE project_id = ?1 AND environment = ?2 AND id = ?4)`,
  );
  const end = sqlite.query<Omit<EndedLabelRun, keyof Scope>, (string | number | null)[]>(
    `UPDATE label_runs SET status = ?, worked_ms = ?, input_tokens = ?, output_tokens = ?, cost_nano_usd = ?
     WHERE project_id = ? AND environment = ? AND run_id = ? RETURNING label_id, revision, version`,
  );
  const selectOf = sqlite.query<Omit<EndedLabelRun, keyof Scope>, [string, string, string]>(
    "SELECT label_id, revision, version FROM label_runs WHERE project_id = ? AND environment = ? AND run_id = ?",
  );
  // The newest runs come first in the index; older revisions of the label used the same version for other comparisons.
  const newest = (condition: string, most: number) =>
    `SELECT ${columns} FROM label_runs WHERE project_id = $project_id AND environment = $environment AND label_id = $label_id
       AND version = $version AND revision >= $moved_revision AND ${condition} ORDER BY run_id DESC LIMIT ${most}`;
  type Bound = Record<string, string | number>;
  const selectJudged = sqlite.query<{ ended: number; failed: number }, Bound>(
    `SELECT count(*) AS ended, coalesce(sum(status = 'failed'), 0) AS failed
     FROM (${newest("status IN ('completed', 'failed')", judgedMost)})`,
  );
  const selectScored = sqlite.query<{ scored: number; score: number | null }, Bound>(
    `SELECT count(*) AS scored, avg(value) AS score FROM (${newest("true", judgedMost)}) run
     JOIN scores USING (project_id, environment, run_id) WHERE scores.name = $name`,
  );
  const selectCounts = sqlite.query<Counts, Bound>(
    `SELECT count(*) AS runs, coalesce(sum(status = 'completed'), 0) AS completed,
       coalesce(sum(status = 'failed'), 0) AS failed, coalesce(sum(status = 'cancelled'), 0) AS cancelled,
       coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
       coalesce(sum(cost_nano_usd), 0) AS cost, avg(worked_ms) FILTER (WHERE status <> 'cancelled') AS mean_ms
     FROM (${newest("true", reportedMost)})`,
  );
  const ofDurations = `FROM (${newest("true", reportedMost)}) WHERE status IN ('completed', 'failed')`;
  const selectMedian = sqlite.query<{ worked_ms: number }, Bound>(
    `SELECT worked_ms ${ofDurations} ORDER BY worked_ms LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 ${ofDurations})`,
  );
  const selectScores = sqlite.query<{ name: string; count: number; mean: number }, Bound>(
    `SELECT name, count(*) AS count, avg(value) AS mean FROM (${newest("true", reportedMost)}) run
     JOIN scores USING (project_id, environment, run_id) GROUP BY name ORDER BY name LIMIT 100`,
  );

  const boundOf = ({ project_id, environment, label_id, version, moved_revision }: RunsOfVersion): Bound => ({
    project_id,
    environment,
    label_id,
    version,
    moved_revision,
  });

  return {
    /** Writes down that a run of a label began, or how it ended. Returns those that ended. Call inside a write. */
    project(...[run, entries]: Parameters<Projector>): EndedLabelRun[] {
      const { project_id, environment, run_id, worked_ms } = run;
      return entries.flatMap(({ event }): EndedLabelRun[] => {
        if (event.type === "run.created" && event.label) {
          const { id, revision } = event.label;
          insert.run(project_id, environment, run_id, id, revision, event.agent_version);
        }
        if (!endsRun(event) || !hasLabels.of(project_id, environment)) return [];
        const { input_tokens, output_tokens, cost_usd } = event.usage;
        const cost = cost_usd === null ? null : nanoUsd(cost_usd);
        const status = event.type.slice("run.".length);
        const row = end.get(status, worked_ms, input_tokens, output_tokens, cost, project_id, environment, run_id);
        return row ? [{ ...row, project_id, environment }] : [];
      });
    },

    /** Returns the label that a run named; null if it named none. */
    of({ project_id, environment }: Scope, runId: string): EndedLabelRun | null {
      const row = selectOf.get(project_id, environment, runId);
      return row && { ...row, project_id, environment };
    },

    /** Returns what a rollback rule is judged by. */
    judged(of: RunsOfVersion, scoreName: string | null) {
      const counts = onlyRow(selectJudged.get(boundOf(of)));
      const scores = scoreName === null ? null : selectScored.get({ ...boundOf(of), name: scoreName });
      return { ...counts, scored: 0, score: null, ...scores };
    },

    /** Returns the numbers of a version. */
    report(of: RunsOfVersion) {
      const bound = boundOf(of);
      const { cost, mean_ms, ...counts } = onlyRow(selectCounts.get(bound));
      const { completed, failed } = counts;
      const ended = completed + failed;
      return {
        ...counts,
        failure_rate: ended === 0 ? null : failed / ended,
        mean_ms: mean_ms === null ? null : Math.round(mean_ms),
        median_ms: selectMedian.get(bound)?.worked_ms ?? null,
        cost_usd: usdOf(cost),
        scores: selectScores.all(bound),
      };
    },
  };
}

interface Counts {
  runs: number;
  completed: number;
  failed: number;
  cancelled: number;
  input_tokens: number;
  output_tokens: number;
  cost: number;
  mean_ms: number | null;
}

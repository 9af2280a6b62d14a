import type { Score } from "../../domain/api-types/score.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { notFound } from "../../domain/not-found.ts";
import { timestamp } from "../../domain/time.ts";
import { agentConditions, mayUse, type Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import type { Condition } from "../../http/row-filter.ts";
import type { LabelsModule } from "../../resources/labels/module.ts";
import type { RunStore } from "../../runs/store.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import { scores } from "../../storage/db/schema.ts";
import { columnsOf, createReader, createScopedTable } from "../../storage/db/scoped-table.ts";
import { isShown } from "../../storage/journal/journal.ts";
import type { PutScore } from "./schema.ts";

type Row = typeof scores.$inferSelect;
type Author = Pick<Row, "source" | "author_id">;

export type ScoreStore = ReturnType<typeof createScoreStore>;

/** Author of a score. All tokens of a person, and all keys of a project, count as one author. */
function authorOf({ kind, id, token }: Principal): Author {
  if (token) return { source: "client", author_id: token.user_id ?? "" };
  return kind === "user" ? { source: "user", author_id: id } : { source: "api_key", author_id: "" };
}

/** Limits client tokens to scores of their own user. */
function ownOnly(principal: Principal): Condition[] {
  const { token } = principal;
  if (!token) return [];
  const { source, author_id } = authorOf(principal);
  const ownCondition = { sql: "source = ? AND author_id = ?", values: [source, author_id] };
  if (token.run_id !== null) return [ownCondition, { sql: "run_id = ?", values: [token.run_id] }];
  return token.thread_id === null
    ? [ownCondition]
    : [ownCondition, { sql: "thread_id = ?", values: [token.thread_id] }];
}

const ofShownRuns: Condition = {
  sql: `EXISTS (SELECT 1 FROM runs WHERE runs.id = scores.run_id AND runs.${isShown})`,
  values: [],
};

/** Stores the scores of runs. */
export function createScoreStore({
  db,
  runs,
  labels,
  now = Date.now,
}: {
  db: Db;
  runs: RunStore;
  labels: Pick<LabelsModule, "judgeScored" | "announced">;
  now?: () => number;
}) {
  const { sqlite } = db;
  const rows = createScopedTable(db, scores);
  const read = createReader(scores);
  const ofRun = "project_id = ? AND environment = ? AND run_id = ?";
  const selectCount = sqlite.query<{ n: number }, [string, string, string]>(
    `SELECT count(*) AS n FROM scores WHERE ${ofRun}`,
  );
  const selectId = sqlite.query<{ id: string }, [string, string, string, string, string, string]>(
    `SELECT id FROM scores WHERE ${ofRun} AND name = ? AND source = ? AND author_id = ?`,
  );
  const columns = columnsOf(scores);
  const insertion = sqlite.query<Record<string, unknown>, (string | number | null)[]>(
    `INSERT INTO scores (id, project_id, environment, run_id, agent_id, thread_id, name, source, author_id, value,
       comment, created_at_ms, updated_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${columns}`,
  );

  /** Call inside a write. */
  function write(principal: Principal, runId: string, name: string, { value, comment = null }: PutScore): Score {
    const { agent_id } = runs.standing(principal, runId);
    const { project_id, environment } = principal;
    const { source, author_id } = authorOf(principal);
    const at = now();
    const existing = selectId.get(project_id, environment, runId, name, source, author_id);
    if (existing) return serializeScore(rows.update(principal, existing.id, { value, comment, updated_at_ms: at }));
    if (onlyRow(selectCount.get(project_id, environment, runId)).n >= limits.scores_per_run)
      throw invalid("name", `A run has at most ${limits.scores_per_run} scores.`);
    const thread_id = runs.threadOf(runId);
    const of = [newId("score", at), project_id, environment, runId, agent_id, thread_id];
    return serializeScore(read(onlyRow(insertion.get(...of, name, source, author_id, value, comment, at, at))));
  }

  return {
    /** Adds a score, or replaces the author's earlier one. The label of the run may be rolled back for it. */
    async put(principal: Principal, runId: string, name: string, input: PutScore): Promise<Score> {
      const score = await db.write(() => {
        const written = write(principal, runId, name, input);
        labels.judgeScored(principal, runId);
        return written;
      });
      labels.announced();
      return score;
    },

    list: (principal: Principal, page: Page) =>
      listPage(
        db,
        {
          table: scores,
          kind: "score",
          scope: principal,
          page,
          isComplete: true,
          where: [ofShownRuns, ...agentConditions(principal, "agent_id"), ...ownOnly(principal)],
        },
        serializeScore,
      ),

    remove: (principal: Principal, id: string) =>
      db.write(() => {
        const row = rows.find(principal, id);
        if (!canDelete(principal, row)) throw notFound();
        rows.remove(principal, id);
        return { id, object: "score" as const, deleted: true as const };
      }),
  };
}

/** True if the caller may delete the score. Client tokens may delete only their own user's. */
function canDelete(principal: Principal & Viewer, row: Row): boolean {
  const { token } = principal;
  if (!mayUse(principal, row.agent_id)) return false;
  if (!token) return true;
  const { source, author_id } = authorOf(principal);
  const isBound = (token.run_id ?? row.run_id) === row.run_id && (token.thread_id ?? row.thread_id) === row.thread_id;
  return isBound && source === row.source && author_id === row.author_id;
}

const serializeScore = ({ created_at_ms, updated_at_ms, author_id, ...row }: Row): Score => ({
  ...row,
  object: "score",
  author_id: author_id || null,
  created_at: timestamp(created_at_ms),
  updated_at: timestamp(updated_at_ms),
});

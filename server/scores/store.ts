import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { notFound } from "../core/not-found.ts";
import { timestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import { columnsOf, createReader, createRows } from "../db/rows.ts";
import { scores } from "../db/schema.ts";
import { mayUse, ofAgents, type Viewer } from "../http/auth.ts";
import type { Condition } from "../http/condition.ts";
import { invalid } from "../http/errors.ts";
import { listPage, type Page } from "../http/page.ts";
import type { Principal } from "../http/principal.ts";
import { isShown } from "../journal/journal.ts";
import type { RunStore } from "../runs/store.ts";
import type { Score } from "../wire/score.ts";
import type { PutScore } from "./schema.ts";

type Row = typeof scores.$inferSelect;
type Author = Pick<Row, "source" | "author_id">;

export type ScoreStore = ReturnType<typeof createScoreStore>;

/** Whose a score is. A person has the same with each of their tokens, and whoever makes keys with each of them. */
function authorOf({ kind, id, token }: Principal): Author {
  if (token) return { source: "client", author_id: token.user_id ?? "" };
  return kind === "user" ? { source: "user", author_id: id } : { source: "api_key", author_id: "" };
}

/** With a client token somebody sees what they gave themselves, and nothing of what others think. */
function ownOnly(principal: Principal): Condition[] {
  const { token } = principal;
  if (!token) return [];
  const { source, author_id } = authorOf(principal);
  const own = { sql: "source = ? AND author_id = ?", values: [source, author_id] };
  if (token.run_id !== null) return [own, { sql: "run_id = ?", values: [token.run_id] }];
  return token.thread_id === null ? [own] : [own, { sql: "thread_id = ?", values: [token.thread_id] }];
}

const ofShownRuns: Condition = {
  sql: `EXISTS (SELECT 1 FROM runs WHERE runs.id = scores.run_id AND runs.${isShown})`,
  values: [],
};

/** What people and programs think of runs. */
export function createScoreStore({
  db,
  runs,
  now = Date.now,
}: {
  db: Db;
  runs: Pick<RunStore, "standing" | "threadOf">;
  now?: () => number;
}) {
  const { sqlite } = db;
  const rows = createRows(db, scores);
  const read = createReader(scores);
  const ofRun = "project_id = ? AND environment = ? AND run_id = ?";
  const counted = sqlite.query<{ n: number }, [string, string, string]>(
    `SELECT count(*) AS n FROM scores WHERE ${ofRun}`,
  );
  const found = sqlite.query<{ id: string }, [string, string, string, string, string, string]>(
    `SELECT id FROM scores WHERE ${ofRun} AND name = ? AND source = ? AND author_id = ?`,
  );
  const columns = columnsOf(scores);
  const insertion = sqlite.query<Record<string, unknown>, (string | number | null)[]>(
    `INSERT INTO scores (id, project_id, environment, run_id, agent_id, thread_id, name, source, author_id, value,
       comment, created_at_ms, updated_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${columns}`,
  );

  return {
    /** Gives the run a score, or changes the one that its author gave it before. */
    put: (principal: Principal, runId: string, name: string, { value, comment = null }: PutScore): Promise<Score> =>
      db.write(() => {
        const { agent_id } = runs.standing(principal, runId);
        const { project_id, environment } = principal;
        const { source, author_id } = authorOf(principal);
        const at = now();
        const known = found.get(project_id, environment, runId, name, source, author_id);
        if (known) return shown(rows.update(principal, known.id, { value, comment, updated_at_ms: at }));
        if (counted.get(project_id, environment, runId)!.n >= limits.scores_per_run)
          throw invalid("name", `A run has at most ${limits.scores_per_run} scores.`);
        const thread_id = runs.threadOf(runId);
        const of = [newId("score", at), project_id, environment, runId, agent_id, thread_id];
        return shown(read(insertion.get(...of, name, source, author_id, value, comment, at, at)!));
      }),

    list: (principal: Principal, page: Page) =>
      listPage(
        db,
        {
          table: scores,
          kind: "score",
          scope: principal,
          page,
          whole: true,
          where: [ofShownRuns, ...ofAgents(principal, "agent_id"), ...ownOnly(principal)],
        },
        shown,
      ),

    remove: (principal: Principal, id: string) =>
      db.write(() => {
        const row = rows.find(principal, id);
        if (!mayTake(principal, row)) throw notFound();
        rows.remove(principal, id);
        return { id, object: "score" as const, deleted: true as const };
      }),
  };
}

/** Whether somebody may take a score back. With a client token only one's own. */
function mayTake(principal: Principal & Viewer, row: Row): boolean {
  const { token } = principal;
  if (!mayUse(principal, row.agent_id)) return false;
  if (!token) return true;
  const { source, author_id } = authorOf(principal);
  const isBound = (token.run_id ?? row.run_id) === row.run_id && (token.thread_id ?? row.thread_id) === row.thread_id;
  return isBound && source === row.source && author_id === row.author_id;
}

const shown = ({ created_at_ms, updated_at_ms, author_id, ...row }: Row): Score => ({
  ...row,
  object: "score",
  author_id: author_id || null,
  created_at: timestamp(created_at_ms),
  updated_at: timestamp(updated_at_ms),
});

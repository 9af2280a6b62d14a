import { AppError } from "../core/errors.ts";
import { isId, siblingId } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import { type Trace, type TraceStep, traceOf } from "../core/trace.ts";
import type { Db } from "../db/open.ts";
import { ofAgents, requireAgent, type Viewer } from "../http/auth.ts";
import { notFound } from "../http/not-found.ts";
import { listRows, type Page, toList } from "../http/page.ts";
import type { Journal } from "../journal/journal.ts";

interface Row extends Scope {
  id: string;
  agent_id: string;
  status: string;
}

export interface TracePage {
  limit: number;
  /** A `stp_` id: steps after it. */
  starting_after: string | null;
  raw: boolean;
}

export type TraceStore = ReturnType<typeof createTraceStore>;

/** Traces are folds of journals: nothing is stored for them. */
export function createTraceStore({ db, journal }: { db: Db; journal: Journal }) {
  const select = db.sqlite.query<Row, [string, string, string]>(
    `SELECT id, project_id, environment, agent_id, status FROM runs
     WHERE id = ? AND project_id = ? AND environment = ? AND summary IS NULL`,
  );

  function find(viewer: Viewer, id: string): Row {
    const row = select.get(siblingId(id, "run"), viewer.project_id, viewer.environment);
    if (!row) throw notFound();
    requireAgent(viewer, row.agent_id);
    return row;
  }

  function get(scope: Viewer, id: string, { limit, starting_after, raw }: TracePage) {
    const row = find(scope, id);
    const trace = traceOf(journal.read(row.id), { raw });
    const first = firstStep(trace.steps, starting_after);
    const steps = trace.steps.slice(first, first + limit);
    return { ...summary(row, trace), steps, steps_has_more: first + limit < trace.steps.length };
  }

  const summaryOf = (row: Row) => {
    const trace = traceOf(journal.read(row.id));
    return { ...summary(row, trace), steps_count: trace.steps.length };
  };

  return {
    get,
    list: (scope: Viewer, asked: Page) => {
      const page = { ...asked, starting_after: runOf(asked.starting_after), ending_before: runOf(asked.ending_before) };
      const where = [{ sql: "summary IS NULL", values: [] }, ...ofAgents(scope, "agent_id")];
      const columns = "id, project_id, environment, agent_id, status";
      return toList(listRows<Row>(db, { table: "runs", columns, scope, page, where }), summaryOf);
    },
  };
}

/** The rows are runs: a trace as a cursor stands for its run. */
const runOf = (cursor: string | null) => (cursor && isId("trace", cursor) ? siblingId(cursor, "run") : cursor);

function firstStep(steps: readonly TraceStep[], after: string | null): number {
  if (after === null) return 0;
  const index = steps.findIndex(({ id }) => id === after);
  if (index < 0)
    throw new AppError("invalid_cursor", "The cursor is not a step of this trace.", { param: "starting_after" });
  return index + 1;
}

function summary(row: Row, { state }: Trace) {
  const run = state.run!;
  const begun = state.started_at ?? state.created_at;
  return {
    id: siblingId(row.id, "trace"),
    object: "trace" as const,
    run_id: row.id,
    agent_id: run.agent_id,
    agent_version: run.agent_version,
    status: state.status,
    started_at: timestamp(begun),
    ended_at: timestampOrNull(state.ended_at),
    duration_ms: (state.ended_at ?? state.updated_at) - begun,
    usage: state.usage,
    created_at: timestamp(state.created_at),
    metadata: run.metadata,
    project_id: row.project_id,
    environment: row.environment,
  };
}

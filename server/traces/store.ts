import { AppError } from "../core/errors.ts";
import { siblingId } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import { type Trace, type TraceStep, traceOf } from "../core/trace.ts";
import type { Db } from "../db/open.ts";
import { notFound } from "../http/not-found.ts";
import { listRows, type Page, toList } from "../http/page.ts";
import type { Journal } from "../journal/journal.ts";

interface Row extends Scope {
  id: string;
  status: string;
  seq: number;
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
    `SELECT id, project_id, environment, status, seq FROM runs
     WHERE id = ? AND project_id = ? AND environment = ? AND summary IS NULL`,
  );

  function find({ project_id, environment }: Scope, id: string): Row {
    const row = select.get(siblingId(id, "run"), project_id, environment);
    if (!row) throw notFound();
    return row;
  }

  function get(scope: Scope, id: string, { limit, starting_after, raw }: TracePage) {
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
    list: (scope: Scope, page: Page) => {
      const where = [{ sql: "summary IS NULL", values: [] }];
      const columns = "id, project_id, environment, status, seq";
      return toList(listRows<Row>(db, { table: "runs", columns, scope, page, where }), summaryOf);
    },
  };
}

function firstStep(steps: readonly TraceStep[], after: string | null): number {
  if (after === null) return 0;
  const index = steps.findIndex(({ id }) => id === after);
  if (index < 0)
    throw new AppError("invalid_cursor", "The cursor is not a step of this trace.", { param: "starting_after" });
  return index + 1;
}

function summary(row: Row, { state }: Trace) {
  const run = state.run!;
  return {
    id: siblingId(row.id, "trace"),
    object: "trace" as const,
    run_id: row.id,
    agent_id: run.agent_id,
    agent_version: run.agent_version,
    status: state.status,
    started_at: timestamp(state.created_at),
    ended_at: timestampOrNull(state.ended_at),
    duration_ms: (state.ended_at ?? state.updated_at) - state.created_at,
    usage: state.usage,
    created_at: timestamp(state.created_at),
    metadata: run.metadata,
    project_id: row.project_id,
    environment: row.environment,
  };
}

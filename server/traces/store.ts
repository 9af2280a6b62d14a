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
  /** With the steps of child runs, each behind the call that it answers. */
  subagents: boolean;
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

  function get(scope: Viewer, id: string, { limit, starting_after, raw, subagents }: TracePage) {
    const row = find(scope, id);
    const trace = traceOf(journal.read(row.id), { raw });
    const all = subagents ? nested(scope, row.id, trace.steps, raw, null) : trace.steps;
    const [steps, steps_has_more] = pageOf(all, starting_after, limit);
    return { ...summary(row, trace), steps, steps_has_more };
  }

  /** Depth first, and read only as far as somebody looks. */
  function* nested(
    viewer: Viewer,
    run_id: string,
    steps: readonly TraceStep[],
    raw: boolean,
    parent_id: string | null,
  ): Generator<TraceStep> {
    for (const step of steps) {
      yield { ...step, run_id, parent_id };
      const child = step.subagent && visible(viewer, step.subagent);
      if (child) yield* nested(viewer, child, traceOf(journal.read(child), { raw }).steps, raw, step.id);
    }
  }

  /** Null for a run whose trace is gone, or of an agent that is not the viewer's: of that it sees what its own agent saw. */
  function visible(viewer: Viewer, { run_id, agent_id }: NonNullable<TraceStep["subagent"]>): string | null {
    if (viewer.agent_ids?.includes(agent_id) === false) return null;
    return select.get(run_id, viewer.project_id, viewer.environment)?.id ?? null;
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

/** So many steps behind the cursor, and whether there are more. */
function pageOf(steps: Iterable<TraceStep>, after: string | null, limit: number): [TraceStep[], boolean] {
  const page: TraceStep[] = [];
  let begun = after === null;
  for (const step of steps) {
    if (begun && page.length === limit) return [page, true];
    if (begun) page.push(step);
    else begun = step.id === after;
  }
  if (!begun)
    throw new AppError("invalid_cursor", "The cursor is not a step of this trace.", { param: "starting_after" });
  return [page, false];
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

import type { Database } from "bun:sqlite";
import { firstIdAt, isId, timeOf } from "../core/ids.ts";
import { notFound } from "../core/not-found.ts";
import type { Scope } from "../core/scope.ts";
import { isShown } from "../journal/journal.ts";

/** How long a request may take until it has begun its run: its body comes first. */
const begins_ms = 60_000;

/** How many runs that began before a call are looked through for it, the newest first. */
const candidates = 20_000;

/**
 * Finds the run that a request began, or that asked for a tool call. Neither is an index: the id says when it was made,
 * and only runs of that time are looked through. Throws 404 where there is none, or none any more; and for a call whose
 * run began so long before it that too many began since.
 */
export function createFindRun(sqlite: Database) {
  const selectOfRequest = sqlite.query<{ id: string }, [string, string, string, string, string]>(
    `SELECT id FROM runs JOIN run_events ON run_id = id AND run_events.seq = 1
     WHERE project_id = ? AND environment = ? AND id >= ? AND id < ? AND ${isShown} AND json_extract(data, '$.request_id') = ?
     ORDER BY id LIMIT 1`,
  );
  // What a large call was asked with stands apart, and its id with it: while it waits it is among the pending ones.
  // A replay or a fork has the calls of the run that it came from, but was made after them.
  const selectOfCall = sqlite.query<{ id: string }, [string, string, string, number, string]>(
    `SELECT id FROM (SELECT id, ended_at_ms FROM runs WHERE project_id = ?1 AND environment = ?2 AND id < ?3 AND ${isShown}
       ORDER BY id DESC LIMIT ${candidates}) AS runs
     WHERE (ended_at_ms IS NULL OR ended_at_ms >= ?4)
       AND (EXISTS (SELECT 1 FROM run_events WHERE run_id = runs.id AND type LIKE 'tool.%' AND instr(data, ?5) > 0)
         OR EXISTS (SELECT 1 FROM pending_calls WHERE run_id = runs.id AND pending_calls.id = ?5))
     ORDER BY id DESC LIMIT 1`,
  );
  return ({ project_id, environment }: Scope, id: string): string => {
    const at = timeOf(id);
    const from = (ms: number) => firstIdAt("run", ms);
    const run = isId("request", id)
      ? selectOfRequest.get(project_id, environment, from(at), from(at + begins_ms), id)
      : isId("tool_call", id)
        ? selectOfCall.get(project_id, environment, from(at + 1), at, id)
        : null;
    if (!run) throw notFound();
    return run.id;
  };
}

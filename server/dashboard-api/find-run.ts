import type { Database } from "bun:sqlite";
import { firstIdAt, isId, timeOf } from "../domain/ids.ts";
import { notFound } from "../domain/not-found.ts";
import type { Scope } from "../domain/scope.ts";
import { isShown } from "../storage/journal/journal.ts";

/** Milliseconds within which a request must have started its run: its body arrives first. */
const begins_ms = 60_000;

/** Number of runs, newest first, that are searched for a call. */
const candidates = 20_000;

/**
 * Finds the run that a request started, or that made a tool call. There is no index for either: the id tells when it
 * was created, and only runs of that time are searched. Throws 404 if none is found, also if more than `candidates`
 * runs have started since the call's run.
 */
export function createFindRun(sqlite: Database) {
  const selectOfRequest = sqlite.query<{ id: string }, [string, string, string, string, string]>(
    `SELECT id FROM runs JOIN run_events ON run_id = id AND run_events.seq = 1
     WHERE project_id = ? AND environment = ? AND id >= ? AND id < ? AND ${isShown} AND json_extract(data, '$.request_id') = ?
     ORDER BY id LIMIT 1`,
  );
  // The arguments and id of a large call are stored apart; while it waits, its id is among the pending ones. A replay
  // or fork contains the calls of its source run, but was created after them.
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

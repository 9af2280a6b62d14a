import type { Database } from "bun:sqlite";
import { endsRun, type JournalEntry, type ToolRequest } from "../domain/run-event.ts";
import { isOver, type RunStatus } from "../domain/run-state.ts";
import { sourceOf, triggerOf } from "../domain/run-trigger.ts";
import { enterStatus } from "../domain/timing.ts";
import { firstItem, lastItem } from "../lib/collections.ts";
import { requireValue } from "../lib/require-value.ts";
import { type RunFacts, type RunProjector, startsRun } from "../storage/journal/journal.ts";

/** Wall time limit of a run, and its start. */
interface Wall {
  max_ms: number | null;
  started_at: number;
}

const columns = [
  "id",
  "project_id",
  "environment",
  "agent_id",
  "status",
  "seq",
  "attempt",
  "thread_id",
  "session_id",
  "user_id",
  "metadata",
  "created_at_ms",
  "worked_ms",
  "status_since_ms",
  "timeout_ms",
  "action_timeout_ms",
  "expires_at_ms",
  "ended_at_ms",
  "model",
  "parent_run_id",
  "parent_call_id",
  "depth",
  "origin",
  "source_run_id",
  "root_run_id",
];

/** Updates the run's row and pending calls in the journal's transaction. */
export function createRunProjection(sqlite: Database): RunProjector {
  const names = columns.join(", ");
  const insertSql = `INSERT INTO runs (${names}) VALUES (${columns.map(() => "?").join(", ")})`;
  const insertRun = sqlite.query(insertSql);
  // A staged import has its row already, hidden with status `partial`.
  const showRun = sqlite.query(
    `${insertSql} ON CONFLICT (id) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(", ")}, summary = NULL
     WHERE status = 'partial'`,
  );
  const selectRoot = sqlite.query<{ id: string }, [string]>(
    "SELECT coalesce(root_run_id, id) AS id FROM runs WHERE id = ?",
  );
  const countBelow = sqlite.query("UPDATE runs SET runs_below = runs_below + 1 WHERE id = ?");
  // A queued run starts at its third entry, or after the guardrail findings for its input and messages of the user; a
  // fork's own entries follow its record.
  const selectWall = sqlite.query<Wall, [string]>(
    `SELECT json_extract(first.data, '$.budget.max_wall_ms') AS max_ms,
       max(created_at_ms, coalesce((SELECT at_ms FROM run_events AS later WHERE later.run_id = runs.id
         AND later.seq BETWEEN ifnull(json_extract(first.data, '$.recorded_to'), 1)
           AND ifnull(json_extract(first.data, '$.recorded_to'), 1) + 80 AND later.type = 'run.started'), 0)) AS started_at
     FROM runs JOIN run_events AS first ON first.run_id = runs.id AND first.seq = 1 WHERE runs.id = ?`,
  );
  const updateSeq = sqlite.query("UPDATE runs SET seq = ? WHERE id = ?");
  const updateRun = sqlite.query(
    `UPDATE runs SET seq = ?, status = ?, attempt = ?, worked_ms = ?, status_since_ms = ?, expires_at_ms = ?,
       ended_at_ms = ? WHERE id = ?`,
  );
  const upsertCall = sqlite.query(
    `INSERT INTO pending_calls (run_id, id, project_id, environment, needs, call, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET needs = excluded.needs, call = excluded.call`,
  );
  const changeNeeds = sqlite.query(
    `UPDATE pending_calls SET needs = ?1, call = iif(?2 IS NULL, call, json_set(call, '$.arguments', json(?2)))
     WHERE run_id = ?3 AND id = ?4`,
  );
  const insertClientCall = sqlite.query(
    "INSERT OR IGNORE INTO client_calls (project_id, environment, id, run_id) VALUES (?, ?, ?, ?)",
  );
  const deleteCall = sqlite.query("DELETE FROM pending_calls WHERE run_id = ? AND id = ?");
  const deleteCalls = sqlite.query("DELETE FROM pending_calls WHERE run_id = ?");

  /** Returns the facts of a run before its first entry. */
  function initialFacts(entries: readonly JournalEntry[]): RunFacts {
    const { event: run } = firstItem(entries);
    if (run.type !== "run.created") throw new Error(`A journal begins with ${run.type}.`);
    const { run_id, project_id, environment, agent_id, thread_id, session_id, user_id, model, parent_run_id } = run;
    const { timeout_ms, action_timeout_ms, depth = 0 } = run;
    const at = begunAt(entries);
    const root = parent_run_id === null ? null : (selectRoot.get(parent_run_id)?.id ?? parent_run_id);
    return {
      run_id,
      project_id,
      environment,
      agent_id,
      thread_id,
      session_id,
      user_id,
      model,
      parent_run_id,
      depth,
      status: "in_progress",
      seq: 0,
      attempt: 1,
      root_run_id: root ?? run_id,
      runs_below: 0,
      waits: 0,
      at,
      created_at_ms: at,
      worked_ms: 0,
      status_since_ms: at,
      timeout_ms,
      action_timeout_ms,
      expires_at_ms: at + Math.min(timeout_ms, run.budget?.max_wall_ms ?? timeout_ms),
    };
  }

  /** Writes the row once, with its final status: another run of the thread may be `in_progress`. */
  function insert(run: RunFacts, { event }: JournalEntry): void {
    if (event.type !== "run.created") return;
    const { metadata, parent_call_id = null } = event;
    const root = run.parent_run_id === null ? null : run.root_run_id;
    (triggerOf(event) === "run" ? insertRun : showRun).run(
      run.run_id,
      run.project_id,
      run.environment,
      run.agent_id,
      run.status,
      run.seq,
      run.attempt,
      run.thread_id,
      run.session_id,
      run.user_id,
      JSON.stringify(metadata),
      run.created_at_ms,
      run.worked_ms,
      run.status_since_ms,
      run.timeout_ms,
      run.action_timeout_ms,
      run.expires_at_ms,
      endOf(run),
      run.model,
      run.parent_run_id,
      parent_call_id,
      run.depth,
      triggerOf(event),
      sourceOf(event),
      root,
    );
    if (root !== null) countBelow.run(root);
  }

  /** Returns the time when the wall time budget is used up, including waits; infinity if there is none. */
  function wallEnd({ run_id }: RunFacts, entries: readonly JournalEntry[]): number {
    const wall = startsRun(entries) ? wallOf(entries) : selectWall.get(run_id);
    const startedAt = entries.findLast(({ event }) => event.type === "run.started")?.at;
    // A child run may have a budget of 0.
    return typeof wall?.max_ms === "number" ? (startedAt ?? wall.started_at) + wall.max_ms : Number.POSITIVE_INFINITY;
  }

  function projectCalls(run: RunFacts, { at, event }: JournalEntry): void {
    const { run_id } = run;
    if (event.type === "tool.requested" && event.call.needs) upsertPendingCall(run, event.call, at);
    else if (event.type === "tool.completed") deleteCall.run(run_id, event.tool_call_id);
    else if (event.type === "tool.decided" && event.needs)
      changeNeeds.run(event.needs, event.arguments && JSON.stringify(event.arguments), run_id, event.tool_call_id);
    else if (event.type === "tool.decided") deleteCall.run(run_id, event.tool_call_id);
    else if (endsRun(event)) deleteCalls.run(run_id);
  }

  const upsertPendingCall = ({ run_id, project_id, environment }: RunFacts, call: ToolRequest, at: number) =>
    upsertCall.run(run_id, call.id, project_id, environment, call.needs, JSON.stringify(call), at);

  function insertRequestedCall({ run_id, project_id, environment }: RunFacts, { id, type, needs }: ToolRequest): void {
    if (type === "client" && needs) insertClientCall.run(project_id, environment, id, run_id);
  }

  /** Returns the facts after these entries. */
  function nextFacts(before: RunFacts, entries: readonly JournalEntry[]): RunFacts {
    const { seq, at } = lastItem(entries);
    const waits =
      before.waits || entries.some(({ event }) => event.type === "tool.requested" && event.call.needs) ? 1 : 0;
    const facts: RunFacts = { ...before, seq, at, waits };
    if (!entries.some(({ event }) => changesStanding(event.type))) return facts;
    const run = entries.reduce(applyEvent, facts);
    const due = expiry(run);
    if (run.status === "paused") return { ...run, expires_at_ms: finiteOrNull(wallEnd(run, entries)) };
    return { ...run, expires_at_ms: due === null ? null : Math.min(due, wallEnd(run, entries)) };
  }

  function update(run: RunFacts, entries: readonly JournalEntry[]): void {
    const { run_id, seq, status, attempt, worked_ms, status_since_ms, expires_at_ms } = run;
    if (!entries.some(({ event }) => changesStanding(event.type))) updateSeq.run(seq, run_id);
    else updateRun.run(seq, status, attempt, worked_ms, status_since_ms, expires_at_ms, endOf(run), run_id);
  }

  return (before, entries) => {
    const run = nextFacts(before ?? initialFacts(entries), entries);
    if (before) update(run, entries);
    else insert(run, firstItem(entries));
    // Most runs have no calls that wait for a client.
    if (run.waits) for (const entry of entries) projectCalls(run, entry);
    if (run.waits)
      for (const { event } of ownOf(entries)) if (event.type === "tool.requested") insertRequestedCall(run, event.call);
    return run;
  };
}

/** Returns the run's own entries, without those copied from another record. */
function ownOf(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const event = entries[0]?.event;
  if (event?.type !== "run.created") return entries;
  const { imported, recorded_to = 0 } = event;
  return imported ? [] : entries.filter(({ seq }) => seq > recorded_to);
}

/** Returns the time of the end, which is its newest entry's; null if the run is not over. */
const endOf = ({ status, at }: RunFacts): number | null => (isOver(status) ? at : null);

/** Returns the creation time; for a fork the time of its last recorded entry, because the record is older. */
function begunAt(entries: readonly JournalEntry[]): number {
  const { at, event } = firstItem(entries);
  const isFork = event.type === "run.created" && triggerOf(event) === "fork";
  return isFork ? requireValue(entries[(event.recorded_to ?? 1) - 1], "The last copied entry").at : at;
}

function wallOf(entries: readonly JournalEntry[]): Wall {
  const { event } = firstItem(entries);
  return {
    max_ms: event.type === "run.created" ? (event.budget?.max_wall_ms ?? null) : null,
    started_at: begunAt(entries),
  };
}

const changesStanding = (type: string): boolean => statusAfter(type) !== null || type === "run.recovered";

const finiteOrNull = (at: number): number | null => (Number.isFinite(at) ? at : null);

const statuses: Record<string, RunStatus> = {
  "run.queued": "queued",
  "run.started": "in_progress",
  "run.requires_action": "requires_action",
  "run.resumed": "in_progress",
  "run.paused": "paused",
  "run.completed": "completed",
  "run.failed": "failed",
  "run.cancelled": "cancelled",
};
const statusAfter = (type: string): RunStatus | null => statuses[type] ?? null;

function applyEvent(standing: RunFacts, { at, event }: JournalEntry): RunFacts {
  if (event.type === "run.recovered") return { ...standing, attempt: event.attempt };
  const status = statusAfter(event.type);
  if (status === null) return standing;
  if (status === standing.status) return standing; // A partial answer does not extend the time.
  return { ...standing, ...enterStatus(standing, status, at) };
}

/**
 * A required action has its own timeout and does not count towards the run's; waiting in the queue and a pause have
 * none.
 */
function expiry({ status, status_since_ms, worked_ms, timeout_ms, action_timeout_ms }: RunFacts): number | null {
  if (status === "in_progress") return status_since_ms + Math.max(0, timeout_ms - worked_ms);
  return status === "requires_action" ? status_since_ms + action_timeout_ms : null;
}

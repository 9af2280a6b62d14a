import type { Database } from "bun:sqlite";
import { AppError } from "../core/errors.ts";
import { siblingId } from "../core/ids.ts";
import { notFound } from "../core/not-found.ts";
import type { RunCreated } from "../core/run-event.ts";
import { type RunList, type RunObject, runLists, runListsOf, runObject } from "../core/run-object.ts";
import { fold, isOver, type RunState, type RunStatus } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Audit, Author } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { approvals, runs } from "../db/schema.ts";
import { maySee, mayUse, ofAgents, requireAgent, type Viewer, withinBounds } from "../http/auth.ts";
import type { RunAnswer } from "../http/idempotency-store.ts";
import type { LongObject } from "../http/long-json.ts";
import { type Condition, countRows, listPage, type Page } from "../http/page.ts";
import { forgetBlobs } from "../journal/blob-uses.ts";
import { createBriefs } from "../journal/briefs.ts";
import { endedState } from "../journal/ended-state.ts";
import { longFrom } from "../journal/folds.ts";
import { isShown, type Journal } from "../journal/journal.ts";
import { longestPiece } from "../journal/partial.ts";
import { inSlices } from "../lib/slices.ts";
import { createNarrow } from "../search/narrow.ts";
import type { RunQuery } from "./filters.ts";
import { createRequireUnpinned } from "./pins.ts";
import { createRunItems, type RunItem } from "./run-items.ts";
import type { Pace } from "./slot-wait.ts";

const rowColumns = [
  ...(["id", "project_id", "environment", "agent_id", "status", "seq", "attempt"] as const),
  ...(["created_at_ms", "expires_at_ms", "summary"] as const),
];

/** What runs are listed and timed by. `summary` is the run as JSON, once its trace was deleted. */
export type RunRow = Pick<typeof runs.$inferSelect, (typeof rowColumns)[number]>;

/** Told within the write where the run stands then, and the `seq` before it: what it notes shares the write's fate. */
export type Note = (row: RunRow, before: number) => void;

/** A run as an answer shows it: whole, or in parts where it is long. */
export type ShownRun = RunObject | LongRun;
type LongRun = LongObject & { id: string };

type Owner = Pick<RunCreated, "user_id" | "session_id">;

export type RunStore = ReturnType<typeof createRunStore>;

// A run of the same thread that goes before this one. One that is not queued has begun, whatever its id is.
const aheadInThread = `
  SELECT 1 FROM runs ahead WHERE ahead.project_id = runs.project_id AND ahead.environment = runs.environment
    AND ahead.thread_id = runs.thread_id AND ahead.ended_at_ms IS NULL AND ahead.id <> runs.id
    AND (ahead.status <> 'queued' OR ahead.id < runs.id)`;

const afterAllRuns = "run_~";
const shown = { sql: isShown, values: [] };

// Rows are counted on the thread that serves everybody.
const countMost = 10_000;

// How long runs take is seen from so many of the last ones.
const paceOf = 20;

/** Runs as clients find them. Their content is a fold of the journal; only rows are written or deleted here. */
export function createRunStore({ db, journal, audit }: { db: Db; journal: Journal; audit: Audit }) {
  const { sqlite } = db;
  const columns = rowColumns.join(", ");
  const select = sqlite.query<RunRow, [string, string, string]>(
    `SELECT ${columns} FROM runs WHERE id = ? AND project_id = ? AND environment = ? AND ${isShown}`,
  );
  const countActive = sqlite.query<{ n: number }, [string, string]>(
    `SELECT count(*) AS n FROM runs
     WHERE project_id = ? AND environment = ? AND status = 'in_progress' AND parent_run_id IS NULL`,
  );
  const selectWorking = sqlite.query<Pace["running"][number], [at: number, at: number, string, string]>(
    `SELECT worked_ms + max(0, ? - status_since_ms) AS worked_ms, max(0, coalesce(expires_at_ms - ?, 0)) AS left_ms
     FROM runs WHERE project_id = ? AND environment = ? AND status = 'in_progress' AND parent_run_id IS NULL`,
  );
  const selectRecent = sqlite.query<{ worked_ms: number }, [string, string]>(
    `SELECT worked_ms FROM runs WHERE project_id = ? AND environment = ? AND status = 'completed'
       AND parent_run_id IS NULL ORDER BY id DESC LIMIT ${paceOf}`,
  );
  const countQueued = sqlite.query<{ n: number }, [string, string]>(
    "SELECT count(*) AS n FROM runs WHERE project_id = ? AND environment = ? AND status = 'queued'",
  );
  const countBefore = sqlite.query<{ n: number }, [string, string, string]>(
    "SELECT count(*) AS n FROM runs WHERE project_id = ? AND environment = ? AND status = 'queued' AND id < ?",
  );
  const selectQueued = sqlite.query<{ id: string }, [string, string, number]>(
    `SELECT id FROM runs WHERE project_id = ? AND environment = ? AND status = 'queued'
       AND (thread_id IS NULL OR NOT EXISTS (${aheadInThread})) ORDER BY id LIMIT ?`,
  );
  // Over the runs in threads that are not over, of which there are few; most queues have none.
  const countBehind = sqlite.query<{ n: number }, [string, string, string]>(
    `SELECT count(*) AS n FROM runs INDEXED BY runs_in_thread
     WHERE project_id = ? AND environment = ? AND thread_id IS NOT NULL AND ended_at_ms IS NULL AND id < ?
       AND status = 'queued' AND EXISTS (${aheadInThread})`,
  );
  const selectInThread = sqlite.query<RunRow, [string, string, string]>(
    `SELECT ${columns} FROM runs WHERE project_id = ? AND environment = ? AND thread_id = ? AND ended_at_ms IS NULL
     ORDER BY status = 'queued', id`,
  );
  // The first condition names the index: without it, SQLite would look through all runs that ever were.
  const selectQueues = sqlite.query<Scope, []>(
    `SELECT DISTINCT project_id, environment FROM runs
     WHERE status IN ('in_progress', 'queued') AND status = 'queued'`,
  );
  const selectUnfinished = sqlite.query<{ id: string }, []>(
    "SELECT id FROM runs WHERE status IN ('in_progress', 'queued') AND status = 'in_progress' ORDER BY id",
  );

  const selectChild = sqlite.query<{ id: string }, [string, string]>(
    "SELECT id FROM runs WHERE parent_run_id = ? AND parent_call_id = ?",
  );
  // Deepest first: what a run has cost is known when those below it have ended.
  const selectBelow = sqlite.query<{ id: string; status: RunStatus }, [string]>(
    `WITH RECURSIVE below (id) AS (
       SELECT id FROM runs WHERE parent_run_id = ? AND ${isShown}
       UNION ALL SELECT r.id FROM below CROSS JOIN runs r ON r.parent_run_id = below.id)
     SELECT runs.id, status FROM below CROSS JOIN runs ON runs.id = below.id ORDER BY depth DESC, runs.id`,
  );
  // Both begin with the few that are not over, by runs_expiry, and not with all that ever had a parent.
  const selectWithOrphans = sqlite.query<{ id: string }, []>(
    `SELECT DISTINCT c.parent_run_id AS id FROM runs c
     WHERE c.expires_at_ms IS NOT NULL AND c.parent_run_id IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM runs p WHERE p.id = c.parent_run_id AND p.ended_at_ms IS NULL)`,
  );
  const selectWaitingParents = sqlite.query<{ id: string }, []>(
    `SELECT id FROM runs p WHERE expires_at_ms IS NOT NULL AND status = 'requires_action'
       AND EXISTS (SELECT 1 FROM runs c WHERE c.parent_run_id = p.id)`,
  );

  const selectAsking = sqlite.query<{ id: string; agent_id: string }, [string, string, string]>(
    `SELECT root.id, root.agent_id FROM client_calls JOIN runs AS own ON own.id = client_calls.run_id
     JOIN runs AS root ON root.id = coalesce(own.root_run_id, own.id)
     WHERE client_calls.project_id = ? AND client_calls.environment = ? AND client_calls.id = ?`,
  );

  const narrow = createNarrow(sqlite);
  const requireUnpinned = createRequireUnpinned(sqlite);
  const items = createRunItems({ journal, briefOf: createBriefs(journal), placeOf });

  /** All runs below a run, deepest first; most have none, and those at the top of a tree know. */
  const below = (id: string) => {
    const head = journal.head(id);
    return head?.parent_run_id === null && head.runs_below === 0 ? [] : selectBelow.all(id);
  };

  const asked = (scope: Viewer, { page, where = [], asked = null }: Pick<RunQuery, "page"> & Partial<RunQuery>) => ({
    ...{ table: runs, scope, page },
    where: [shown, ...ofAgents(scope, "agent_id"), ...withinBounds(scope), ...where],
    ...(asked && { narrow: narrow(scope, asked) }),
  });

  /** The row of a run that has its journal, from memory: it has no summary yet. */
  function recorded({ project_id, environment }: Scope, id: string): RunRow | null {
    const head = journal.head(id);
    if (!head || head.at === 0 || head.project_id !== project_id || head.environment !== environment) return null;
    const { agent_id, status, seq, attempt, created_at_ms, expires_at_ms } = head;
    return { id, project_id, environment, agent_id, status, seq, attempt, created_at_ms, expires_at_ms, summary: null };
  }

  /** The row of a run of this scope; another scope's run, or one that is not the viewer's, is not there. */
  function standing(viewer: Viewer, id: string): RunRow {
    const row = recorded(viewer, id) ?? select.get(id, viewer.project_id, viewer.environment);
    if (!row) throw notFound();
    requireAgent(viewer, row.agent_id);
    if (viewer.token && !maySee(viewer, id, journal.head(id)!)) throw notFound();
    return row;
  }

  const read = (row: RunRow): RunObject =>
    row.summary === null ? runObject(journal.state(row.id), row.expires_at_ms, placeOf(row)) : JSON.parse(row.summary);

  /** The run without these lists; as soon as it is folded, where that takes long. */
  function show(row: RunRow, without: readonly RunList[] = []): ShownRun | Promise<ShownRun> {
    if (row.summary === null && row.seq >= longFrom) return showLong(row, without);
    const run = read(row);
    for (const list of without) delete (run as Partial<RunObject>)[list];
    return run;
  }

  async function showLong(row: RunRow, without: readonly RunList[]): Promise<LongRun> {
    const isBare = runLists.every((list) => without.includes(list));
    const state = (isBare && isOver(row.status) && ended(row)) || (await journal.stateInSlices(row.id));
    if (!state) throw notFound(); // It was deleted while it was read.
    return inParts(state, row.expires_at_ms, placeOf(row), without);
  }

  function ended(row: RunRow): RunState | null {
    const [first] = journal.read(row.id, 0, 1);
    const [last] = journal.read(row.id, row.seq - 1, 1);
    return endedState(journal, row, first, last);
  }

  /** The run as an answer showed it; as it is now where no answer did yet, or where its trace was deleted meanwhile. */
  function asOf(viewer: Viewer, { id, seq, expires_at_ms }: RunAnswer): RunObject {
    const row = standing(viewer, id);
    if (!seq || row.summary !== null) return read(row);
    return runObject(fold(journal.read(id, 0, seq)), expires_at_ms);
  }

  async function longAsOf(viewer: Viewer, row: RunRow, seq: number, expiresAt: number | null): Promise<ShownRun> {
    const state = row.summary === null ? await journal.stateAt(row.id, seq) : null;
    return state ? inParts(state, expiresAt) : read(standing(viewer, row.id)); // Its record may be gone by now.
  }

  function placeOf(row: Pick<RunRow, keyof Scope | "id" | "status">): number | null {
    return row.status === "queued" ? positionOf(row) : null;
  }

  /** Counted from 1: it is the next to begin, of its thread where it waits for that, and else of all that could begin. */
  function positionOf({ id, project_id, environment }: Scope & { id: string }): number {
    const inLine = inThread({ project_id, environment }, journal.head(id)?.thread_id ?? null);
    const place = inLine.findIndex((run) => run.id === id);
    if (place > 0) return inLine.slice(0, place).filter(({ status }) => status === "queued").length + 1;
    const behind = countBehind.get(project_id, environment, id)!.n;
    return countBefore.get(project_id, environment, id)!.n - behind + 1;
  }

  /** The runs of a thread that are not over: the one at work, and those in line behind it. */
  const inThread = ({ project_id, environment }: Scope, thread_id: string | null): RunRow[] =>
    thread_id === null ? [] : selectInThread.all(project_id, environment, thread_id);

  /** Within a write: all runs below one that is about to be deleted, with their rows; throws while one is not over. */
  function overBelow(viewer: Viewer, id: string): RunRow[] {
    const rows = below(id).map((child) => select.get(child.id, viewer.project_id, viewer.environment)!);
    if (!rows.every(({ status }) => isOver(status))) throw notTerminal();
    return rows;
  }

  /** Throws for a run whose parent may not have read yet what came of it. */
  function requireSettled(id: string): void {
    const parent = journal.head(id)?.parent_run_id;
    const head = parent ? journal.head(parent) : null;
    if (head && !isOver(head.status))
      throw new AppError("run_not_terminal", "The run that started it is not over: cancel that one first.");
  }

  /** Within a write: deletes the journal of a run that is over, and leaves its summary. A long one goes with `clear`. */
  function eraseTrace(row: RunRow): void {
    const state = ended(row) ?? journal.state(row.id);
    const whole = runObject({ ...state, messages: [], calls: [] }, null);
    const summary = { ...whole, trace_id: null };
    sqlite.query("UPDATE runs SET summary = ? WHERE id = ?").run(JSON.stringify(summary), row.id);
    journal.forget(row.id);
    forgetMessages(sqlite, row);
    if (row.seq > longestPiece) journal.partial.drop(row.id);
    else {
      sqlite.query("DELETE FROM run_events WHERE run_id = ?").run(row.id);
      forgetBlobs(sqlite, row, row.id);
    }
  }

  /** Within a write: deletes a run that is over. A long one is seen by nobody from then on, and goes with `clear`. */
  function erase(row: Scope & { id: string; seq: number }): void {
    journal.forget(row.id);
    forgetMessages(sqlite, row);
    if (row.seq > longestPiece) journal.partial.hide(row.id);
    else {
      forgetBlobs(sqlite, row, row.id);
      sqlite.query("DELETE FROM runs WHERE id = ?").run(row.id);
    }
  }

  return {
    standing,
    read,
    get: (viewer: Viewer, id: string): RunObject => read(standing(viewer, id)),
    /** The run as clients read it, without these lists. */
    show: (viewer: Viewer, id: string, without?: readonly RunList[]) => show(standing(viewer, id), without),
    asOf,
    /** The same, in parts where it is long. */
    showAsOf(viewer: Viewer, answer: RunAnswer): ShownRun | Promise<ShownRun> {
      const { id, seq, expires_at_ms } = answer;
      if (!seq) return show(standing(viewer, id));
      return seq < longFrom ? asOf(viewer, answer) : longAsOf(viewer, standing(viewer, id), seq, expires_at_ms);
    },
    /** Summaries, or with their messages and calls as far as a page has room for them. */
    list(scope: Viewer, page: Page, { messages = false, ...more }: Partial<RunQuery> & { messages?: boolean } = {}) {
      const rest = inSlices();
      return listPage(
        db,
        { ...asked(scope, { ...more, page }), kind: "run", columns: rowColumns, whole: true, sort: more.sort },
        (row): Promise<RunItem | null> => (messages ? items.withMessages(row, rest) : items.summary(row, rest)),
      );
    },
    /** How many runs a list like this one would show; no more than `countMost` are counted. */
    count(scope: Viewer, of: Partial<Record<"agent_id" | "thread_id" | "status", string>>): number {
      const asked = Object.entries(of).map(([name, value]): Condition => ({ sql: `${name} = ?`, values: [value] }));
      const where = [shown, ...ofAgents(scope, "agent_id"), ...withinBounds(scope), ...asked];
      const text = `SELECT count(*) AS n FROM (SELECT 1 FROM runs WHERE project_id = ? AND environment = ?
        AND ${where.map(({ sql }) => sql).join(" AND ")} LIMIT ${countMost})`;
      const values = [scope.project_id, scope.environment, ...where.flatMap((one) => one.values)] as string[];
      return sqlite.query<{ n: number }, string[]>(text).get(...values)!.n;
    },
    /** How many of these there are, as far as somebody counts. */
    counted: (scope: Viewer, query: RunQuery, most: number): Promise<number> =>
      countRows(db, asked(scope, { ...query, asked: query.asked && { ...query.asked, window: 2000 } }), most),
    inProgress: ({ project_id, environment }: Scope): number => countActive.get(project_id, environment)!.n,
    /** How runs that take slots come along. */
    pace: ({ project_id, environment }: Scope, at: number): Pace => ({
      running: selectWorking.all(at, at, project_id, environment),
      recent_ms: selectRecent.all(project_id, environment).map(({ worked_ms }) => worked_ms),
    }),
    queued: ({ project_id, environment }: Scope): number => countQueued.get(project_id, environment)!.n,
    /** Queued runs that wait for nothing but a slot. */
    waitForSlot({ project_id, environment }: Scope): number {
      const { n } = countQueued.get(project_id, environment)!;
      return n === 0 ? 0 : n - countBehind.get(project_id, environment, afterAllRuns)!.n;
    },
    inThread,
    /** The run whose client was asked to make this call, at the top of its tree; null where there is none for whoever asks. */
    askedBy(viewer: Viewer, callId: string): string | null {
      const found = selectAsking.get(viewer.project_id, viewer.environment, callId);
      if (!found || !mayUse(viewer, found.agent_id)) return null;
      return !viewer.token || maySee(viewer, found.id, journal.head(found.id)!) ? found.id : null;
    },
    /** For whom a run is. */
    ownerOf: (id: string): Owner => journal.head(id) ?? { user_id: null, session_id: null },
    threadOf: (id: string): string | null => journal.head(id)?.thread_id ?? null,
    /** Those that have waited longest, and wait for nothing but a slot. */
    firstQueued: ({ project_id, environment }: Scope, limit: number): string[] =>
      selectQueued.all(project_id, environment, limit).map(({ id }) => id),
    /** Every scope in which runs are queued. */
    queues: (): Scope[] => selectQueues.all(),
    expiry: (id: string): number | null => journal.head(id)?.expires_at_ms ?? null,
    /** Notes that the process ends in order: what it leaves unfinished did not bring it down. */
    async markCleanStop(): Promise<void> {
      await db.write(() => sqlite.run("INSERT OR REPLACE INTO facts (name, value) VALUES ('clean_stop', '1')"));
    },
    /** Whether the last process ended in order; asked once, so that a crash of this one is not taken for that. */
    takeCleanStop: (): Promise<boolean> =>
      db.write(() => sqlite.run("DELETE FROM facts WHERE name = 'clean_stop'").changes > 0),
    unfinished: (): string[] => selectUnfinished.all().map(({ id }) => id),
    /** The run that a call started. */
    childOf: (runId: string, callId: string): string | null => selectChild.get(runId, callId)?.id ?? null,
    /** How many runs came of one at the top of a tree, also those that were deleted since. */
    countBelow: (rootId: string): number => journal.head(rootId)?.runs_below ?? 0,
    below: (id: string): string[] => below(id).map((run) => run.id),
    unfinishedBelow: (id: string): string[] => below(id).flatMap((run) => (isOver(run.status) ? [] : [run.id])),
    /** Runs that are over while one of theirs is not. */
    withOrphans: (): string[] => selectWithOrphans.all().map(({ id }) => id),
    /** Runs that wait for somebody and have started others. */
    waitingParents: (): string[] => selectWaitingParents.all().map(({ id }) => id),

    /** Deletes what the journal tells of a run that is over; what was asked and what came of it stays. */
    async forgetTrace(scope: Viewer & Author, id: string): Promise<void> {
      await journal.prepare(id);
      await db.write(() => {
        const row = standing(scope, id);
        if (row.summary !== null) throw notFound();
        if (!isOver(row.status)) throw notTerminal();
        const children = overBelow(scope, id);
        requireUnpinned(scope, [id, ...children.map((child) => child.id)]);
        // What an agent did for another one is a part of what that one did.
        for (const child of children) if (child.summary === null) eraseTrace(child);
        eraseTrace(row);
        audit.note(scope, "trace.deleted", siblingId(id, "trace"), { agent_id: row.agent_id, status: row.status });
      });
      await journal.partial.clear();
    },

    /** Deletes a run that is over and those below it, with their journals and what nobody else shares of their blobs. */
    async remove(scope: Viewer & Author, id: string): Promise<void> {
      await db.write(() => {
        const row = standing(scope, id);
        if (!isOver(row.status)) throw notTerminal();
        requireSettled(id);
        const children = overBelow(scope, id);
        requireUnpinned(scope, [id, ...children.map((child) => child.id)]);
        for (const child of children) erase(child);
        erase(row);
        audit.note(scope, "run.deleted", id, { agent_id: row.agent_id, status: row.status });
      });
      await journal.partial.clear();
    },

    erase,
    eraseTrace,
    /** Deletes what is left of long records that are to go: those of this process, and those that a crash has left. */
    clear: journal.partial.clear,

    /** Calls of every run of this scope that wait for somebody. */
    pending: (scope: Viewer, page: Page) => {
      const where = ofAgents(scope, "(SELECT agent_id FROM runs WHERE runs.id = approvals.run_id)");
      return listPage(db, { table: approvals, kind: "tool_call", scope, page, where, whole: true }, toApproval);
    },
  };
}

/** A run in this state. */
export const shownAs = (state: RunState, expiresAt: number | null): ShownRun =>
  state.seq < longFrom ? runObject(state, expiresAt) : inParts(state, expiresAt);

/** A long run as it is written: its lists one item after the other. */
function inParts(
  state: RunState,
  expiresAt: number | null,
  queuePosition: number | null = state.queue_position,
  without: readonly RunList[] = [],
): LongRun {
  const fields = runObject({ ...state, messages: [], calls: [] }, expiresAt, queuePosition);
  for (const list of without) delete (fields as Partial<RunObject>)[list];
  return { id: fields.id, fields, lists: runListsOf(state) };
}

function toApproval(row: typeof approvals.$inferSelect) {
  const { id, run_id, needs, call, created_at_ms, expires_at_ms, project_id, environment } = row;
  const { tool_id, tool, arguments: args } = call;
  return {
    id,
    object: "approval" as const,
    run_id,
    tool_id,
    tool,
    arguments: args,
    needs,
    created_at: timestamp(created_at_ms),
    expires_at: timestamp(expires_at_ms!),
    metadata: {},
    project_id,
    environment,
  };
}

const notTerminal = () => new AppError("run_not_terminal", "The run is not over: cancel it first.");

/** Takes what a run said out of its thread; the places are not given to others. */
function forgetMessages(sqlite: Database, { id, project_id, environment }: Scope & { id: string }): void {
  const keeping = `INSERT INTO thread_places (project_id, environment, thread_id, id, position)
    SELECT project_id, environment, thread_id, id, position
    FROM thread_messages WHERE project_id = ? AND environment = ? AND run_id = ?`;
  sqlite.query(keeping).run(project_id, environment, id);
  // Not its own thread alone: what goes on from there in another one has them too.
  const counting = `UPDATE threads SET message_count = message_count - said.n FROM
    (SELECT thread_id, count(*) AS n FROM thread_messages WHERE project_id = ?1 AND environment = ?2 AND run_id = ?3
     GROUP BY thread_id) AS said
    WHERE project_id = ?1 AND environment = ?2 AND id = said.thread_id`;
  sqlite.query(counting).run(project_id, environment, id);
  const deletion = "DELETE FROM thread_messages WHERE project_id = ? AND environment = ? AND run_id = ?";
  sqlite.query(deletion).run(project_id, environment, id);
}

import { missing, notFound } from "../core/not-found.ts";
import type { RunCreated } from "../core/run-event.ts";
import { type RunList, type RunObject, runLists, runListsOf, runObject, runOfSummary } from "../core/run-object.ts";
import { fold, isOver, type RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { textOf } from "../core/text-of.ts";
import { timestamp } from "../core/time.ts";
import type { Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { approvals, runs } from "../db/schema.ts";
import { maySee, mayUse, ofAgents, requireAgent, type Viewer, withinBounds } from "../http/auth.ts";
import type { Condition } from "../http/condition.ts";
import type { RunAnswer } from "../http/idempotency-store.ts";
import type { LongObject } from "../http/long-json.ts";
import { countRows, listPage, type Page } from "../http/page.ts";
import { lasting } from "../http/response.ts";
import { createBriefs } from "../journal/briefs.ts";
import { endedState } from "../journal/ended-state.ts";
import { longFrom } from "../journal/folds.ts";
import { isShown, type Journal } from "../journal/journal.ts";
import { inSlices } from "../lib/slices.ts";
import { weightOf } from "../lib/weight.ts";
import { createNarrow } from "../search/narrow.ts";
import { createRunDeletion } from "./deletion.ts";
import type { RunQuery } from "./filters.ts";
import { createQueueRows } from "./queue-rows.ts";
import { createRunItems, type RunItem } from "./run-items.ts";
import { type RunRow, rowColumns, runColumns } from "./run-row.ts";
import { createRunTree } from "./run-tree.ts";

/** Told within the write where the run stands then, and the `seq` before it: what it notes shares the write's fate. */
export type Note = (row: RunRow, before: number) => void;

/** A run as an answer shows it: whole, or in parts where it is long. */
export type ShownRun = RunObject | LongRun;
type LongRun = LongObject & { id: string };

type Owner = Pick<RunCreated, "user_id" | "session_id">;

export type RunStore = ReturnType<typeof createRunStore>;

const shown = { sql: isShown, values: [] };

// Each with the id behind it.
const indexed = ["status", "agent_id", "thread_id", "user_id", "parent_run_id", "source_run_id"];

// Fields of entries that stand in the lists of a run alone.
const ofLists = new Set(["answer", "call"]);

// How many runs that are over are kept as they are answered, unless they are long.
const overMost = 200;

// Rows are counted on the thread that serves everybody.
const countMost = 10_000;

/** Runs as clients find them. Their content is a fold of the journal; only rows are written or deleted here. */
export function createRunStore({ db, journal, audit }: { db: Db; journal: Journal; audit: Audit }) {
  const { sqlite } = db;
  const select = sqlite.query<RunRow, [string, string, string]>(
    `SELECT ${runColumns} FROM runs WHERE id = ? AND project_id = ? AND environment = ? AND ${isShown}`,
  );
  const selectAsking = sqlite.query<{ id: string; agent_id: string }, [string, string, string]>(
    `SELECT root.id, root.agent_id FROM client_calls JOIN runs AS own ON own.id = client_calls.run_id
     JOIN runs AS root ON root.id = coalesce(own.root_run_id, own.id)
     WHERE client_calls.project_id = ? AND client_calls.environment = ? AND client_calls.id = ?`,
  );

  const selectUnfinished = sqlite.query<{ id: string }, []>(
    "SELECT id FROM runs WHERE status IN ('in_progress', 'queued') AND status = 'in_progress' ORDER BY id",
  );
  const narrow = createNarrow(sqlite);
  const queueRows = createQueueRows(sqlite, journal);
  const tree = createRunTree(sqlite, journal);
  const { placeOf } = queueRows;
  const briefOf = createBriefs(journal);
  const items = createRunItems({ journal, briefOf, placeOf });

  function asked(
    scope: Viewer,
    { page, where = [], isSparse = false, asked = null, signal }: Pick<RunQuery, "page"> & Partial<RunQuery>,
  ) {
    const bounds = [...ofAgents(scope, "agent_id"), ...withinBounds(scope)];
    return {
      table: runs,
      scope,
      page,
      indexed,
      signal,
      isSparse: isSparse || bounds.length > 0,
      where: [shown, ...bounds, ...where],
      ...(asked && { narrow: narrow(scope, { ...asked, signal }) }),
    };
  }

  /** The row of a run that has its journal, from memory: it has no summary yet. */
  function recorded({ project_id, environment }: Scope, id: string): RunRow | null {
    const head = journal.head(id);
    if (!head || head.at === 0 || head.project_id !== project_id || head.environment !== environment) return null;
    const { agent_id, status, seq, attempt, created_at_ms, worked_ms, status_since_ms, expires_at_ms } = head;
    const stands = { status, seq, attempt, created_at_ms, worked_ms, status_since_ms, expires_at_ms };
    return { id, project_id, environment, agent_id, ...stands, summary: null };
  }

  // Nothing is added to a run that is over: it is the same for everybody who may read it.
  const over = db.kept.rows((id: string) => lasting(runObject(journal.state(id), null)), {
    most: overMost,
    bytesOf: weightOf,
  });

  /** The row of a run of this scope; another scope's run, or one that is not the viewer's, is not there. */
  function standing(viewer: Viewer, id: string): RunRow {
    const row = recorded(viewer, id) ?? select.get(id, viewer.project_id, viewer.environment) ?? missing();
    requireAgent(viewer, row.agent_id);
    if (viewer.token && !maySee(viewer, id, journal.head(id)!)) throw notFound();
    return row;
  }

  const read = (row: RunRow): RunObject =>
    row.summary === null
      ? runObject(journal.state(row.id), row.expires_at_ms, placeOf(row))
      : runOfSummary(row.summary);

  /** The run without these lists; as soon as it is folded, where that takes long. */
  function show(row: RunRow, without: readonly RunList[] = []): ShownRun | Promise<ShownRun> {
    if (row.summary === null) {
      const isWhole = isOver(row.status) && without.length === 0;
      const known = isWhole ? over.known(row.id) : undefined;
      if (known) return known;
      if (isBare(without) && !journal.isAtHand(row.id)) return showBare(row);
      if (journal.isLong(row.id, row.seq)) return showLong(row, without);
      if (isWhole) return over.of(row.id);
    }
    const run = read(row);
    for (const list of without) delete (run as Partial<RunObject>)[list];
    return run;
  }

  /** The run without its lists: what they hold, which may be most of it, is not read. */
  async function showBare(row: RunRow): Promise<LongRun> {
    const state = isOver(row.status) ? ended(row) : await underWay(row);
    return state ? inParts(state, row.expires_at_ms, placeOf(row), runLists) : showLong(row, runLists);
  }

  /** Null where a field that is shown is so long that it was not read. */
  async function underWay(row: RunRow): Promise<RunState | null> {
    const brief = await briefOf(row, inSlices());
    if (!brief) throw notFound();
    return brief.shortened.every((field) => ofLists.has(field)) ? brief.state : null;
  }

  async function showLong(row: RunRow, without: readonly RunList[]): Promise<LongRun> {
    const state = await journal.stateInSlices(row.id);
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

  const deletion = createRunDeletion({
    db,
    journal,
    audit,
    standing,
    ended,
    rowOf: ({ project_id, environment }, id) => select.get(id, project_id, environment),
    below: tree.below,
  });

  return {
    ...queueRows,
    ...tree,
    ...deletion,
    standing,
    read,
    get: (viewer: Viewer, id: string): RunObject => read(standing(viewer, id)),
    /** The run as clients read it, without these lists. */
    show: (viewer: Viewer, id: string, without?: readonly RunList[]) => show(standing(viewer, id), without),
    /** What the user and the agent of a run have said: so many of the last texts, the oldest first. */
    async said(viewer: Viewer, id: string, most: number) {
      const { summary } = standing(viewer, id);
      const state = summary === null ? await journal.stateInSlices(id) : null;
      const texts = (state?.messages ?? []).flatMap((message) => {
        if (message.role === "tool") return [];
        const { id, role } = message;
        const content = message.role === "user" ? message.content : textOf(message.parts);
        return content === "" ? [] : [{ id, role, content }];
      });
      return texts.slice(-most);
    },
    asOf,
    /** The same, in parts where it is long. */
    showAsOf(viewer: Viewer, answer: RunAnswer): ShownRun | Promise<ShownRun> {
      const { id, seq, expires_at_ms } = answer;
      if (!seq) return show(standing(viewer, id));
      return journal.isLong(id, seq)
        ? longAsOf(viewer, standing(viewer, id), seq, expires_at_ms)
        : asOf(viewer, answer);
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
      countRows(
        db,
        asked(scope, { ...query, asked: query.asked && { ...query.asked, window: Math.ceil(most / 2) } }),
        most,
      ),
    /** The run whose client was asked to make this call, at the top of its tree; null where there is none for whoever asks. */
    askedBy(viewer: Viewer, callId: string): string | null {
      const found = selectAsking.get(viewer.project_id, viewer.environment, callId);
      if (!found || !mayUse(viewer, found.agent_id)) return null;
      return !viewer.token || maySee(viewer, found.id, journal.head(found.id)!) ? found.id : null;
    },
    /** For whom a run is. */
    ownerOf: (id: string): Owner => journal.head(id) ?? { user_id: null, session_id: null },
    threadOf: (id: string): string | null => journal.head(id)?.thread_id ?? null,
    expiry: (id: string): number | null => journal.head(id)?.expires_at_ms ?? null,
    /** Notes that the process ends in order: what it leaves unfinished did not bring it down. */
    async markCleanStop(): Promise<void> {
      await db.write(() => sqlite.run("INSERT OR REPLACE INTO facts (name, value) VALUES ('clean_stop', '1')"));
    },
    /** Whether the last process ended in order; asked once, so that a crash of this one is not taken for that. */
    takeCleanStop: (): Promise<boolean> =>
      db.write(() => sqlite.run("DELETE FROM facts WHERE name = 'clean_stop'").changes > 0),
    unfinished: (): string[] => selectUnfinished.all().map(({ id }) => id),
    /** Calls of every run of this scope that wait for somebody. */
    pending: (scope: Viewer, page: Page) => {
      const where = ofAgents(scope, "(SELECT agent_id FROM runs WHERE runs.id = approvals.run_id)");
      return listPage(db, { table: approvals, kind: "tool_call", scope, page, where, whole: true }, toApproval);
    },
  };
}

const isBare = (without: readonly RunList[]): boolean => runLists.every((list) => without.includes(list));

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

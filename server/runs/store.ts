import { notFound, throwNotFound } from "../domain/not-found.ts";
import type { RunCreated } from "../domain/run-event.ts";
import { type RunList, type RunObject, runLists, runListsOf, runObject, runOfSummary } from "../domain/run-object.ts";
import { fold, isOver, type RunState } from "../domain/run-state.ts";
import type { Scope } from "../domain/scope.ts";
import { textOf } from "../domain/text-of.ts";
import { timestamp } from "../domain/time.ts";
import { agentConditions, maySee, mayUse, requireAgent, tokenConditions, type Viewer } from "../http/auth.ts";
import type { RunAnswer } from "../http/idempotency-store.ts";
import { type JsonBytes, type LongObject, listBytes } from "../http/json-stream.ts";
import { countRows, listPage, type Page } from "../http/page.ts";
import { cachedJson } from "../http/response.ts";
import type { Condition } from "../http/row-filter.ts";
import { createYielder } from "../lib/cooperative-yield.ts";
import { estimateJsonSize } from "../lib/estimate-json-size.ts";
import { requireValue } from "../lib/require-value.ts";
import { createFacetFilter } from "../resources/full-text-search/facet-filter.ts";
import type { Audit } from "../storage/db/audit.ts";
import { onlyRow } from "../storage/db/only-row.ts";
import type { Db } from "../storage/db/open.ts";
import { approvals, runs } from "../storage/db/schema.ts";
import { endedState } from "../storage/journal/ended-state.ts";
import { isShown, type Journal } from "../storage/journal/journal.ts";
import { longRunThreshold } from "../storage/journal/state-cache.ts";
import { createTerminalEventCache } from "../storage/journal/terminal-event-cache.ts";
import { createRunDeletion } from "./end/deletion.ts";
import type { RunQuery } from "./filters.ts";
import { createQueueStore } from "./queue/queue-store.ts";
import { createRunItems, type RunItem } from "./run-items.ts";
import { type RunRow, rowColumns, runColumns } from "./run-row.ts";
import { createRunTree } from "./run-tree.ts";

/** Called inside the write with the run's row and the `seq` before it; shares the write's transaction. */
export type Note = (row: RunRow, before: number) => void;

/** A run in a response: an object, or in parts if it is long. */
export type ShownRun = RunObject | LongRun;
type LongRun = LongObject & { id: string };

/** A long run that is over, with its lists as they are sent. */
interface WrittenRun {
  fields: RunObject;
  lists: Record<RunList, JsonBytes>;
}

type Owner = Pick<RunCreated, "user_id" | "session_id">;

export type RunStore = ReturnType<typeof createRunStore>;

const visibleCondition = { sql: isShown, values: [] };

// Columns with an index that continues with the id.
const indexed = ["status", "agent_id", "thread_id", "user_id", "parent_run_id", "source_run_id"];

// Fields of entries that appear only in a run's lists.
const ofLists = new Set(["answer", "call"]);

// Maximum number of cached finished runs.
const overMost = 200;

// Limits counts, because rows are counted on the main thread.
const countMost = 10_000;

/** Runs as clients see them. Content is a fold of the journal; only rows are written or deleted here. */
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
  const facetFilter = createFacetFilter(sqlite);
  const queueRows = createQueueStore(sqlite, journal);
  const tree = createRunTree(sqlite, journal);
  const { placeOf } = queueRows;
  const briefOf = createTerminalEventCache(journal);
  const items = createRunItems({ journal, briefOf, placeOf });

  function asked(
    scope: Viewer,
    { page, where = [], isSparse = false, asked = null, signal }: Pick<RunQuery, "page"> & Partial<RunQuery>,
  ) {
    const bounds = [...agentConditions(scope, "agent_id"), ...tokenConditions(scope)];
    return {
      table: runs,
      scope,
      page,
      indexed,
      signal,
      isSparse: isSparse || bounds.length > 0,
      where: [visibleCondition, ...bounds, ...where],
      ...(asked && { rowFilter: facetFilter(scope, { ...asked, signal }) }),
    };
  }

  /** Returns the row of a run with a journal, from memory; null if it is not there. */
  function recorded({ project_id, environment }: Scope, id: string): RunRow | null {
    const head = journal.head(id);
    if (!head || head.at === 0 || head.project_id !== project_id || head.environment !== environment) return null;
    const { agent_id, status, seq, attempt, created_at_ms, worked_ms, status_since_ms, expires_at_ms } = head;
    const stands = { status, seq, attempt, created_at_ms, worked_ms, status_since_ms, expires_at_ms };
    return { id, project_id, environment, agent_id, ...stands, summary: null };
  }

  // A finished run never changes and looks the same to every reader.
  const endedRuns = db.kept.rows((id: string) => cachedJson(runObject(journal.state(id), null)), {
    most: overMost,
    bytesOf: estimateJsonSize,
  });

  // Long ones are cached as they are sent; null marks one that is being written.
  const writtenRuns = db.kept.rows((_id: string): WrittenRun | null => null, {
    most: overMost,
    bytesOf: (run) =>
      run ? estimateJsonSize(run.fields) + run.lists.messages.json.length + run.lists.tool_calls.json.length : 0,
  });

  const headOf = (id: string) => requireValue(journal.head(id), `The run ${id}`);

  /** Returns the row. Throws 404 for a run of another scope, or one the viewer may not see. */
  function standing(viewer: Viewer, id: string): RunRow {
    const row = recorded(viewer, id) ?? select.get(id, viewer.project_id, viewer.environment) ?? throwNotFound();
    requireAgent(viewer, row.agent_id);
    if (viewer.token && !maySee(viewer, id, headOf(id))) throw notFound();
    return row;
  }

  const read = (row: RunRow): RunObject =>
    row.summary === null
      ? runObject(journal.state(row.id), row.expires_at_ms, placeOf(row))
      : runOfSummary(row.summary);

  /** Returns the run without these lists; a promise if folding takes long. */
  function show(row: RunRow, excludedLists: readonly RunList[] = []): ShownRun | Promise<ShownRun> {
    if (row.summary === null) {
      const isWhole = isOver(row.status) && excludedLists.length === 0;
      const cached = isWhole ? endedRuns.known(row.id) : undefined;
      if (cached) return cached;
      if (isBare(excludedLists) && !journal.isAtHand(row.id)) return showBare(row);
      if (journal.isLong(row.id, row.seq)) return showLong(row, excludedLists);
      if (isWhole) return endedRuns.of(row.id);
    }
    const run = read(row);
    for (const list of excludedLists) delete (run as Partial<RunObject>)[list];
    return run;
  }

  /** Returns the run without its lists, which are not read because they may be large. */
  async function showBare(row: RunRow): Promise<LongRun> {
    const state = isOver(row.status) ? ended(row) : await underWay(row);
    return state ? inParts(state, row.expires_at_ms, placeOf(row), runLists) : showLong(row, runLists);
  }

  /** Returns null if a field outside the lists was too long to be read. */
  async function underWay(row: RunRow): Promise<RunState | null> {
    const brief = await briefOf(row, createYielder());
    if (!brief) throw notFound();
    return brief.shortened.every((field) => ofLists.has(field)) ? brief.state : null;
  }

  async function showLong(row: RunRow, without: readonly RunList[]): Promise<LongRun> {
    const known = isOver(row.status) ? writtenRuns.known(row.id) : null;
    if (known) return { id: row.id, fields: leaveOut(known.fields, without), lists: known.lists };
    const mayWrite = isOver(row.status) && without.length === 0;
    if (mayWrite) writtenRuns.note(null, row.id);
    const state = await journal.stateInSlices(row.id);
    if (!state) throw notFound(); // It was deleted while it was read.
    const run = inParts(state, row.expires_at_ms, placeOf(row), without);
    return mayWrite ? writeLists(run, state) : run;
  }

  /** Writes the lists and caches them, unless a commit has cleared the cache since the run was marked. */
  async function writeLists({ id, fields }: LongRun & { fields: RunObject }, state: RunState): Promise<LongRun> {
    const lists = runListsOf(state);
    const run = {
      fields,
      lists: { messages: await listBytes(lists.messages), tool_calls: await listBytes(lists.tool_calls) },
    };
    if (writtenRuns.known(id) === null) writtenRuns.note(run, id);
    return { id, ...run };
  }

  function ended(row: RunRow): RunState | null {
    return endedState(journal, row, (seq) => journal.read(row.id, seq - 1, 1)[0]);
  }

  /** Returns the run as of a stored response; as it is now if there was none, or if its trace was deleted meanwhile. */
  function asOf(viewer: Viewer, { id, seq, expires_at_ms }: RunAnswer): RunObject {
    const row = standing(viewer, id);
    if (!seq || row.summary !== null) return read(row);
    return runObject(fold(journal.read(id, 0, seq)), expires_at_ms);
  }

  async function longAsOf(viewer: Viewer, row: RunRow, seq: number, expiresAt: number | null): Promise<ShownRun> {
    const state = row.summary === null ? await journal.stateAt(row.id, seq) : null;
    return state ? inParts(state, expiresAt) : read(standing(viewer, row.id)); // Its record may be deleted by now.
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
    /** Returns the run without these lists. */
    show: (viewer: Viewer, id: string, without?: readonly RunList[]) => show(standing(viewer, id), without),
    /** Returns the last `most` texts of user and agent, oldest first. */
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
    /** The same, in parts if the run is long. */
    showAsOf(viewer: Viewer, answer: RunAnswer): ShownRun | Promise<ShownRun> {
      const { id, seq, expires_at_ms } = answer;
      if (!seq) return show(standing(viewer, id));
      return journal.isLong(id, seq)
        ? longAsOf(viewer, standing(viewer, id), seq, expires_at_ms)
        : asOf(viewer, answer);
    },
    /** Returns summaries, or with `messages` as many messages and calls as fit on a page. */
    list(scope: Viewer, page: Page, { messages = false, ...more }: Partial<RunQuery> & { messages?: boolean } = {}) {
      const yieldTurn = createYielder();
      return listPage(
        db,
        { ...asked(scope, { ...more, page }), kind: "run", columns: rowColumns, isComplete: true, sort: more.sort },
        (row): Promise<RunItem | null> =>
          messages ? items.withMessages(row, yieldTurn) : items.summary(row, yieldTurn),
      );
    },
    /** Number of runs a filter matches, counted up to `countMost`. */
    count(scope: Viewer, of: Partial<Record<"agent_id" | "thread_id" | "status", string>>): number {
      const asked = Object.entries(of).map(([name, value]): Condition => ({ sql: `${name} = ?`, values: [value] }));
      const where = [visibleCondition, ...agentConditions(scope, "agent_id"), ...tokenConditions(scope), ...asked];
      const text = `SELECT count(*) AS n FROM (SELECT 1 FROM runs WHERE project_id = ? AND environment = ?
        AND ${where.map(({ sql }) => sql).join(" AND ")} LIMIT ${countMost})`;
      const values = [scope.project_id, scope.environment, ...where.flatMap((one) => one.values)] as string[];
      return onlyRow(sqlite.query<{ n: number }, string[]>(text).get(...values)).n;
    },
    /** Number of runs a query matches, counted up to `most`. */
    counted: (scope: Viewer, query: RunQuery, most: number): Promise<number> =>
      countRows(
        db,
        asked(scope, { ...query, asked: query.asked && { ...query.asked, window: Math.ceil(most / 2) } }),
        most,
      ),
    /** Returns the root run whose client was asked for this call; null if none or not visible to the viewer. */
    askedBy(viewer: Viewer, callId: string): string | null {
      const found = selectAsking.get(viewer.project_id, viewer.environment, callId);
      if (!found || !mayUse(viewer, found.agent_id)) return null;
      return !viewer.token || maySee(viewer, found.id, headOf(found.id)) ? found.id : null;
    },
    /** Returns the user and session of a run. */
    ownerOf: (id: string): Owner => journal.head(id) ?? { user_id: null, session_id: null },
    threadOf: (id: string): string | null => journal.head(id)?.thread_id ?? null,
    expiry: (id: string): number | null => journal.head(id)?.expires_at_ms ?? null,
    /** Records a clean stop, so that the next start blames no unfinished run. */
    async markCleanStop(): Promise<void> {
      await db.write(() => sqlite.run("INSERT OR REPLACE INTO facts (name, value) VALUES ('clean_stop', '1')"));
    },
    /**
     * True if the last process stopped cleanly. Clears the mark, so that a crash of this process is not taken for that.
     */
    takeCleanStop: (): Promise<boolean> =>
      db.write(() => sqlite.run("DELETE FROM facts WHERE name = 'clean_stop'").changes > 0),
    unfinished: (): string[] => selectUnfinished.all().map(({ id }) => id),
    /** Returns a page of the scope's pending calls. */
    pending: (scope: Viewer, page: Page) => {
      const where = agentConditions(scope, "(SELECT agent_id FROM runs WHERE runs.id = approvals.run_id)");
      return listPage(db, { table: approvals, kind: "tool_call", scope, page, where, isComplete: true }, toApproval);
    },
  };
}

const isBare = (without: readonly RunList[]): boolean => runLists.every((list) => without.includes(list));

/** Builds a response from this state. */
export const serializeState = (state: RunState, expiresAt: number | null): ShownRun =>
  state.seq < longRunThreshold ? runObject(state, expiresAt) : inParts(state, expiresAt);

/** Returns a long run as fields and lazy lists, to be serialized item by item. */
function inParts(
  state: RunState,
  expiresAt: number | null,
  queuePosition: number | null = state.queue_position,
  without: readonly RunList[] = [],
): LongRun & { fields: RunObject } {
  const fields = runObject({ ...state, messages: [], calls: [] }, expiresAt, queuePosition);
  return { id: fields.id, fields: leaveOut(fields, without), lists: runListsOf(state) };
}

/** Returns the fields without these lists. */
function leaveOut(fields: RunObject, without: readonly RunList[]): RunObject {
  if (without.length === 0) return fields;
  const rest: Partial<RunObject> = { ...fields };
  for (const list of without) delete rest[list];
  return rest as RunObject;
}

function toApproval(row: typeof approvals.$inferSelect) {
  const { id, run_id, needs, call, created_at_ms, expires_at_ms, project_id, environment } = row;
  const { tool_id, tool, arguments: args } = call;
  return {
    id,
    object: "approval" as const,
    run_id,
    tool_call_id: id,
    tool_id,
    name: tool,
    arguments: args,
    needs,
    created_at: timestamp(created_at_ms),
    expires_at: timestamp(requireValue(expires_at_ms, "The expiry of an approval")),
    metadata: {},
    project_id,
    environment,
  };
}

import { sql } from "drizzle-orm";
import type { ThreadStatus } from "../../domain/api-types/enums.ts";
import { messageForVisitor } from "../../domain/api-types/redact-for-visitors.ts";
import { changeable } from "../../domain/api-types/schema.ts";
import { noSuch, threadBusy } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import { messageFault, partsOfMessage, type ShownMedia, toEarlierMessage } from "../../domain/run-input.ts";
import type { Scope } from "../../domain/scope.ts";
import { variableName } from "../../domain/template.ts";
import { seededMessage } from "../../domain/thread-messages.ts";
import { anyValueIssue } from "../../domain/variables.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import { plainMessage } from "../../http/plain-input.ts";
import type { Condition } from "../../http/row-filter.ts";
import { inputMost } from "../../http/schemas.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import { threads } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { createExternalThreadIds } from "./external-thread-ids.ts";
import { createAppend, historyWithin, listMessages, openCallsIn } from "./messages.ts";
import type { CreateMessage, CreateThread, UpdateThread } from "./schema.ts";

interface ThreadStoreOptions extends StoreBase {
  /** Resolves the images, recordings and documents in messages. */
  mediaOf: (viewer: Viewer, param: string, agentId: null) => ShownMedia;
}

type Row = typeof threads.$inferSelect & { status: ThreadStatus };

// Per write of an erasure, so that the next write waits only milliseconds.
const messagesPerWrite = 200;

/** User, session and variables of a thread's runs. */
type ThreadOwner = Pick<Row, "user_id" | "session_id"> & Partial<Pick<Row, "variables">>;

/** Columns of a new thread. */
type Begun = Pick<CreateThread, "title" | "metadata" | "variables"> & Partial<ThreadOwner> & { id: string };

export type ThreadStore = ReturnType<typeof createThreadStore>;

const unfinished = `FROM runs WHERE runs.project_id = threads.project_id AND runs.environment = threads.environment
  AND runs.thread_id = threads.id AND runs.ended_at_ms IS NULL`;
// At most one run is active; if it waits for a person or client, the whole thread waits.
const status = `coalesce((SELECT iif(max(runs.status = 'requires_action'), 'waiting', 'busy') ${unfinished}
  GROUP BY runs.thread_id), 'idle')`;

// Includes a thread that has copied messages of another agent.
const isForeignTo = `EXISTS (SELECT 1 FROM (
    SELECT agent_id FROM runs WHERE runs.project_id = threads.project_id AND runs.environment = threads.environment
      AND runs.thread_id = threads.id
    UNION ALL SELECT agent_id FROM thread_messages AS said JOIN runs ON runs.id = said.run_id
    WHERE said.project_id = threads.project_id AND said.environment = threads.environment AND said.thread_id = threads.id
  ) WHERE agent_id NOT IN (SELECT value FROM json_each(?)))`;

/** Conversations over several runs. A run's messages are added when it ends (`module.ts`). */
export function createThreadStore({ db, audit, mediaOf, now = Date.now }: ThreadStoreOptions) {
  const { sqlite } = db;
  const rows = createScopedTable(db, threads);
  const statusOf = sqlite.query<{ status: ThreadStatus }, [string, string, string]>(
    `SELECT ${status} AS status FROM threads WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const isForeign = sqlite.query<unknown, [string, string, string, string]>(
    `SELECT 1 FROM threads WHERE project_id = ? AND environment = ? AND id = ? AND ${isForeignTo}`,
  );
  const firstUnfinished = sqlite.query<{ id: string }, [string, string, string]>(
    `SELECT id FROM runs WHERE project_id = ? AND environment = ? AND thread_id = ? AND ended_at_ms IS NULL
     ORDER BY id LIMIT 1`,
  );
  const selectNewest = sqlite.query<{ id: string }, [string, string, string]>(
    "SELECT id FROM threads WHERE project_id = ? AND environment = ? AND user_id = ? ORDER BY id DESC LIMIT 1",
  );
  const append = createAppend(sqlite);
  const selectIdleOf = sqlite.query<{ id: string }, [string, string, string]>(
    `SELECT id FROM threads WHERE project_id = ? AND environment = ? AND user_id = ? AND NOT EXISTS (SELECT 1 ${unfinished})
     ORDER BY id LIMIT 1`,
  );
  const clearing = ["thread_messages", "thread_places"].map((table) =>
    sqlite.query<unknown, [string, string, string]>(
      `DELETE FROM ${table} WHERE (project_id, environment, id) IN (SELECT project_id, environment, id FROM ${table}
         WHERE project_id = ? AND environment = ? AND thread_id = ? LIMIT ${messagesPerWrite})`,
    ),
  );

  /**
   * Finds a thread; null for one of another scope, of another user, or in which an agent worked that the key is not
   * bound to.
   */
  function known(viewer: Viewer, id: string): Row | null {
    const { project_id, environment, agent_ids } = viewer;
    const row = rows.get(viewer, id);
    if (!row || !isWithin(viewer, row)) return null;
    if (agent_ids && isForeign.get(project_id, environment, id, JSON.stringify(agent_ids))) return null;
    return { ...row, ...onlyRow(statusOf.get(project_id, environment, id)) };
  }

  const find = (viewer: Viewer, id: string): Row => known(viewer, id) ?? throwNotFound();

  /** Call inside a write. */
  function begin(
    scope: Scope,
    { id, title = null, user_id = null, session_id = null, variables = null, metadata = {} }: Begun,
  ): typeof threads.$inferSelect {
    const at = now();
    const of = { user_id, session_id, variables };
    return rows.insert(scope, { id, title, ...of, metadata, created_at_ms: at, updated_at_ms: at });
  }

  async function create(scope: Scope, input: CreateThread) {
    checkVariables(input);
    const row = await db.write(() => begin(scope, { ...input, id: newId("thread", now()) }));
    return toThread({ ...row, status: "idle" });
  }

  async function update(viewer: Viewer, id: string, { title, variables, metadata }: UpdateThread) {
    checkVariables({ variables });
    return await db.write(() => {
      const { status } = find(viewer, id);
      return toThread({ ...rows.update(viewer, id, { title, variables, metadata, updated_at_ms: now() }), status });
    });
  }

  /** Adds a message from outside of runs. Refused while a run is active, because its messages must stay together. */
  async function say(viewer: Viewer, id: string, given: CreateMessage) {
    const newMessage = plainMessage(given);
    const wrong = messageFault(newMessage, inputMost);
    if (wrong) throw invalid(wrong.path.slice(1) || "content", wrong.message);
    const { project_id, environment } = viewer;
    const thread = { project_id, environment, id };
    find(viewer, id);
    const media = mediaOf(viewer, "", null);
    await media.fetch(partsOfMessage(newMessage, ""));
    const said = await db.write(() => {
      find(viewer, id);
      const atWork = firstUnfinished.get(project_id, environment, id);
      if (atWork) throw new AppError("thread_busy", threadBusy, { details: { run_id: atWork.id } });
      const open = openCallsIn(sqlite, thread);
      requireCallOrder(newMessage, open);
      const entry = seededMessage(toEarlierMessage(newMessage, "", open, media.of), now());
      media.keep({ thread_id: id });
      append(thread, null, [entry]);
      rows.update(viewer, id, { updated_at_ms: entry.at, message_count: sql`message_count + 1` });
      return { ...entry.message, run_id: null };
    });
    media.kept();
    return said;
  }

  const chats = createExternalThreadIds({
    db,
    known,
    now,
    insert: (scope, thread) => void rows.insert(scope, thread),
  });

  return {
    begin,
    create,
    update,
    say,
    /** Thread names of clients of other protocols. */
    chats,
    get: (viewer: Viewer, id: string) => toThread(find(viewer, id), viewer),
    list(viewer: Viewer, page: Page) {
      const { status: statusFilter, ...filters } = page.filters;
      const where = [...inStatus(statusFilter as ThreadStatus | undefined), ...ofKey(viewer), ...ofToken(viewer)];
      return listPage(
        db,
        {
          table: threads,
          kind: "thread",
          more: { status: sql<ThreadStatus>`${sql.raw(status)}` },
          scope: viewer,
          page: { ...page, filters },
          where,
          isSparse: statusFilter !== undefined,
        },
        (row) => toThread(row, viewer),
      );
    },
    /** Messages of a thread, by position. */
    async messages(viewer: Viewer & { token?: { is_visitor: boolean } }, id: string, page: Page) {
      const list = await listMessages(sqlite, find(viewer, id), page);
      return viewer.token?.is_visitor ? { ...list, data: list.data.map(messageForVisitor) } : list;
    },
    /** Newest thread of a user, or null. */
    newestOf: ({ project_id, environment }: Scope, user_id: string): string | null =>
      selectNewest.get(project_id, environment, user_id)?.id ?? null,
    /** Newest messages that a run's model reads, in prompt form. */
    history: (scope: Scope, id: string | null, max: number) =>
      id === null ? [] : historyWithin(sqlite, { ...scope, id }, max),

    /** User and session of a thread. Throws if it does not exist or the viewer may not see it. */
    ownerOf(viewer: Viewer, id: string): ThreadOwner {
      const row = known(viewer, id) ?? chats.reservedFor(viewer, id);
      if (!row) throw invalid("thread_id", noSuch("thread"));
      return row;
    },

    /**
     * Deletes some messages of a user's idle thread, finally the thread itself. True if the thread is gone; null if
     * there is none. Call inside a write.
     */
    eraseOf(scope: Scope, userId: string): boolean | null {
      const { project_id, environment } = scope;
      const thread = selectIdleOf.get(project_id, environment, userId);
      if (!thread) return null;
      if (clearing.some((rows) => rows.run(project_id, environment, thread.id).changes > 0)) return false;
      rows.remove(scope, thread.id);
      return true;
    },

    /** Deletes an idle thread with its messages; its runs stay. */
    async remove(author: Author & Viewer, id: string) {
      await db.write(() => {
        const { status, message_count } = find(author, id);
        if (status !== "idle") throw new AppError("run_not_terminal", "The thread has an active run: cancel it first.");
        rows.remove(author, id);
        audit.note(author, "thread.deleted", id, { message_count });
      });
      return { id, object: "thread" as const, deleted: true };
    },
  };
}

/** Throws for a tool message whose call is not open, and for any other message while a call has no result yet. */
function requireCallOrder({ role, tool_call_id = "" }: CreateMessage, open: ReadonlyMap<string, string>): void {
  if (role === "tool" && !open.has(tool_call_id))
    throw invalid("tool_call_id", "No message right before this one asks for such a call.");
  const [missing] = open.keys();
  if (role !== "tool" && missing !== undefined)
    throw invalid("role", `Must be tool: the call ${missing} has no result yet.`);
}

// Driven by the few active runs instead of all threads.
const busyThreads = `SELECT thread_id FROM runs WHERE runs.project_id = threads.project_id
  AND runs.environment = threads.environment AND thread_id IS NOT NULL AND ended_at_ms IS NULL`;

const inStatus = (filter: ThreadStatus | undefined): Condition[] =>
  filter === undefined
    ? []
    : filter === "idle"
      ? [{ sql: `NOT EXISTS (SELECT 1 ${unfinished})`, values: [] }]
      : [
          { sql: `id IN (${busyThreads})`, values: [] },
          { sql: `${status} = ?`, values: [filter] },
        ];

/** True if a client token covers the thread; a token bound to a run covers none. */
const isWithin = ({ token }: Viewer, { id, user_id }: Pick<Row, "id" | "user_id">): boolean =>
  !token || (token.run_id === null && (token.thread_id === null ? token.user_id === user_id : token.thread_id === id));

const ofToken = ({ token }: Viewer): Condition[] => {
  if (!token) return [];
  if (token.run_id !== null) return [{ sql: "0", values: [] }];
  return token.thread_id === null
    ? [{ sql: "user_id = ?", values: [token.user_id] }]
    : [{ sql: "id = ?", values: [token.thread_id] }];
};

const ofKey = ({ agent_ids }: Viewer): Condition[] =>
  agent_ids ? [{ sql: `NOT ${isForeignTo}`, values: [JSON.stringify(agent_ids)] }] : [];

/** Throws for a value that no variable can have. */
function checkVariables({ variables }: Pick<CreateThread, "variables">): void {
  const entries = Object.entries(variables ?? {});
  const faults = entries.flatMap(([name, value]) => {
    const message = isVariable.test(name) ? anyValueIssue(value) : "A variable cannot have this name.";
    return message === null ? [] : [fault(`variables.${name}`, message)];
  });
  if (entries.length > limits.variables_per_agent)
    faults.push(fault("variables", `Must have at most ${limits.variables_per_agent} variables.`));
  throwIfInvalid(faults);
}

const isVariable = new RegExp(variableName);

/** Values of variables are the project's: the holder of a client token does not see them. */
const toThread = (row: Row, { token }: Pick<Viewer, "token"> = {}) => ({
  id: row.id,
  object: "thread" as const,
  title: row.title,
  user_id: row.user_id,
  session_id: row.session_id,
  ...(row.variables && !token && { variables: row.variables }),
  status: row.status,
  message_count: row.message_count,
  last_run_id: row.last_run_id,
  last_agent_id: row.last_agent_id,
  ...changeable(row),
});

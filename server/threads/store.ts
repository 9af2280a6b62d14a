import { sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { missing } from "../core/not-found.ts";
import { earlierOf, messageFault, type ShownImages } from "../core/run-input.ts";
import type { Scope } from "../core/scope.ts";
import { seededMessage } from "../core/thread-messages.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { createRows } from "../db/rows.ts";
import { threads } from "../db/schema.ts";
import type { Viewer } from "../http/auth.ts";
import type { Condition } from "../http/condition.ts";
import { invalid } from "../http/errors.ts";
import { listPage, type Page } from "../http/page.ts";
import { inputMost } from "../http/schemas.ts";
import { messageForVisitor } from "../wire/for-visitors.ts";
import type { ThreadStatus } from "../wire/names.ts";
import { changeable } from "../wire/schema.ts";
import { createChats } from "./chats.ts";
import { createAppend, historyWithin, listMessages, openCallsIn } from "./messages.ts";
import type { CreateMessage, CreateThread, UpdateThread } from "./schema.ts";

export interface ThreadStoreOptions extends StoreBase {
  /** The images that messages show. */
  imagesOf: (viewer: Viewer, param: string, agentId: null) => ShownImages;
}

type Row = typeof threads.$inferSelect & { status: ThreadStatus };

// Of an erasure, so that those who wait for the next write wait for milliseconds.
const messagesPerWrite = 200;

/** Whom the runs of a thread are for. */
type ThreadOwner = Pick<Row, "user_id" | "session_id">;

/** A thread as it begins. */
type Begun = Pick<CreateThread, "title" | "metadata"> & Partial<ThreadOwner> & { id: string };

export type ThreadStore = ReturnType<typeof createThreadStore>;

const unfinished = `FROM runs WHERE runs.project_id = threads.project_id AND runs.environment = threads.environment
  AND runs.thread_id = threads.id AND runs.ended_at_ms IS NULL`;
// At most one of them is under way: who waits for somebody outside makes the whole thread wait.
const status = `coalesce((SELECT iif(max(runs.status = 'requires_action'), 'waiting', 'busy') ${unfinished}
  GROUP BY runs.thread_id), 'idle')`;

// Also one that has what another agent said from the thread in whose place it goes on.
const isForeignTo = `EXISTS (SELECT 1 FROM (
    SELECT agent_id FROM runs WHERE runs.project_id = threads.project_id AND runs.environment = threads.environment
      AND runs.thread_id = threads.id
    UNION ALL SELECT agent_id FROM thread_messages AS said JOIN runs ON runs.id = said.run_id
    WHERE said.project_id = threads.project_id AND said.environment = threads.environment AND said.thread_id = threads.id
  ) WHERE agent_id NOT IN (SELECT value FROM json_each(?)))`;

/** Conversations over several runs. What is said in them is written when a run ends (`project.ts`). */
export function createThreadStore({ db, audit, imagesOf, now = Date.now }: ThreadStoreOptions) {
  const { sqlite } = db;
  const rows = createRows(db, threads);
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

  /** Another scope's thread is not there; nor is one in which another agent than the key's has worked, or of another user. */
  function known(viewer: Viewer, id: string): Row | null {
    const { project_id, environment, agent_ids } = viewer;
    const row = rows.get(viewer, id);
    if (!row || !isWithin(viewer, row)) return null;
    if (agent_ids && isForeign.get(project_id, environment, id, JSON.stringify(agent_ids))) return null;
    return { ...row, ...statusOf.get(project_id, environment, id)! };
  }

  const find = (viewer: Viewer, id: string): Row => known(viewer, id) ?? missing();

  /** Within a write. */
  function begin(
    scope: Scope,
    { id, title = null, user_id = null, session_id = null, metadata = {} }: Begun,
  ): typeof threads.$inferSelect {
    const at = now();
    return rows.insert(scope, { id, title, user_id, session_id, metadata, created_at_ms: at, updated_at_ms: at });
  }

  async function create(scope: Scope, input: CreateThread) {
    const row = await db.write(() => begin(scope, { ...input, id: newId("thread", now()) }));
    return toThread({ ...row, status: "idle" });
  }

  async function update(viewer: Viewer, id: string, { title, metadata }: UpdateThread) {
    return await db.write(() => {
      const { status } = find(viewer, id);
      return toThread({ ...rows.update(viewer, id, { title, metadata, updated_at_ms: now() }), status });
    });
  }

  /** Puts in a message that no run of the thread said. While one is at work it would stand in the middle of what that says. */
  async function say(viewer: Viewer, id: string, given: CreateMessage) {
    const wrong = messageFault(given, inputMost);
    if (wrong) throw invalid(wrong.path.slice(1) || "content", wrong.message);
    const { project_id, environment } = viewer;
    const thread = { project_id, environment, id };
    return await db.write(() => {
      find(viewer, id);
      const atWork = firstUnfinished.get(project_id, environment, id);
      if (atWork)
        throw new AppError("thread_busy", "The thread already has an active run.", { details: { run_id: atWork.id } });
      const open = openCallsIn(sqlite, thread);
      requirePlace(given, open);
      const images = imagesOf(viewer, "", null);
      const said = seededMessage(
        earlierOf(given, "", open, (part, path) => images.of(part, path.slice(1))),
        now(),
      );
      images.keep({ thread_id: id });
      append(thread, null, [said]);
      rows.update(viewer, id, { updated_at_ms: said.at, message_count: sql`message_count + 1` });
      return { ...said.message, run_id: null };
    });
  }

  const chats = createChats({
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
    /** By the names that clients of other protocols give them. */
    chats,
    get: (viewer: Viewer, id: string) => toThread(find(viewer, id)),
    list(viewer: Viewer, page: Page) {
      const { status: wanted, ...filters } = page.filters;
      const where = [...inStatus(wanted as ThreadStatus | undefined), ...ofKey(viewer), ...ofToken(viewer)];
      return listPage(
        db,
        {
          table: threads,
          kind: "thread",
          more: { status: sql<ThreadStatus>`${sql.raw(status)}` },
          scope: viewer,
          page: { ...page, filters },
          where,
          isSparse: wanted !== undefined,
        },
        toThread,
      );
    },
    /** What was said in it, by position. */
    async messages(viewer: Viewer & { token?: { is_visitor: boolean } }, id: string, page: Page) {
      const list = await listMessages(sqlite, find(viewer, id), page);
      return viewer.token?.is_visitor ? { ...list, data: list.data.map(messageForVisitor) } : list;
    },
    /** The thread that was begun for somebody last; null where none was. */
    newestOf: ({ project_id, environment }: Scope, user_id: string): string | null =>
      selectNewest.get(project_id, environment, user_id)?.id ?? null,
    /** What a run of the thread is told of it: the newest messages, in the providers' form. */
    history: (scope: Scope, id: string | null, max: number) =>
      id === null ? [] : historyWithin(sqlite, { ...scope, id }, max),

    /** Whom its runs are for; throws for a thread that is not there, as for every id in a body. */
    ownerOf(viewer: Viewer, id: string): ThreadOwner {
      const row = known(viewer, id) ?? chats.promisedTo(viewer, id);
      if (!row) throw invalid("thread_id", "There is no such thread.");
      return row;
    },

    /**
     * Within a write: deletes a thread of somebody in which no run is under way, or some of what was said in it. Returns
     * whether it is gone; null where there is none.
     */
    eraseOf(scope: Scope, userId: string): boolean | null {
      const { project_id, environment } = scope;
      const thread = selectIdleOf.get(project_id, environment, userId);
      if (!thread) return null;
      if (clearing.some((rows) => rows.run(project_id, environment, thread.id).changes > 0)) return false;
      rows.remove(scope, thread.id);
      return true;
    },

    /** Deletes a thread in which no run is under way, with all that was said in it; its runs stay. */
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

/** Throws for a result of a call that does not wait for one, and for anything else while one does. */
function requirePlace({ role, tool_call_id = "" }: CreateMessage, open: ReadonlyMap<string, string>): void {
  if (role === "tool" && !open.has(tool_call_id))
    throw invalid("tool_call_id", "No message right before this one asks for such a call.");
  const [missing] = open.keys();
  if (role !== "tool" && missing !== undefined)
    throw invalid("role", `Expected tool: the call ${missing} has no result yet.`);
}

// Driven by the few runs that are not over, and not by all threads that ever were.
const atWork = `SELECT thread_id FROM runs WHERE runs.project_id = threads.project_id
  AND runs.environment = threads.environment AND thread_id IS NOT NULL AND ended_at_ms IS NULL`;

const inStatus = (wanted: ThreadStatus | undefined): Condition[] =>
  wanted === undefined
    ? []
    : wanted === "idle"
      ? [{ sql: `NOT EXISTS (SELECT 1 ${unfinished})`, values: [] }]
      : [
          { sql: `id IN (${atWork})`, values: [] },
          { sql: `${status} = ?`, values: [wanted] },
        ];

/** Whether a thread is what a client token is bound to: a run's sees none. */
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

const toThread = (row: Row) => ({
  id: row.id,
  object: "thread" as const,
  title: row.title,
  user_id: row.user_id,
  session_id: row.session_id,
  status: row.status,
  message_count: row.message_count,
  last_run_id: row.last_run_id,
  ...changeable(row),
});

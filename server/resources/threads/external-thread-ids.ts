import { newId } from "../../domain/ids.ts";
import { notFound, throwNotFound } from "../../domain/not-found.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { lastItem } from "../../lib/collections.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import type { threadMessages, threads } from "../../storage/db/schema.ts";

/** A client's own name for a conversation with an agent, of a user or of none. */
interface ChatName {
  agent_id: string;
  user_id: string | null;
  chat: string;
}

type NewThread = Omit<typeof threads.$inferSelect, keyof Scope>;

interface ChatOptions {
  db: Db;
  /** The thread, or null if the viewer may not see it. */
  known(viewer: Viewer, id: string): NewThread | null;
  /** Called inside a write. */
  insert(scope: Scope, thread: NewThread): void;
  now: () => number;
}

interface PendingThread {
  viewer: Scope;
  name: ChatName;
  /** Scope and name as one string. */
  key: string;
  thread: NewThread;
  /** Number of requests for this thread whose run has not been created or refused yet. */
  holders: number;
}

type StoredMessage = Pick<
  typeof threadMessages.$inferSelect,
  "position" | "run_id" | "message" | "prompt" | "created_at_ms"
>;

/** Messages copied per write, so that other writers wait only briefly. */
const piece = 50;

const within = "project_id = ? AND environment = ?";

/** Maps thread names of other protocols to threads. */
export function createExternalThreadIds({ db, known, insert, now }: ChatOptions) {
  const { sqlite } = db;
  /** Thread that each new thread without a run replaces. In memory only: after a crash no run starts in them. */
  const inPlaceOf = new Map<string, string>();
  /** Threads that are created together with their first run. */
  const reservations = new Map<string, PendingThread>();
  const selection = sqlite.query<{ thread_id: string }, string[]>(
    `SELECT thread_id FROM thread_chats WHERE ${within} AND agent_id = ? AND user_id = ? AND chat = ?`,
  );
  const insertChat = sqlite.query(
    "INSERT INTO thread_chats (project_id, environment, agent_id, user_id, chat, thread_id) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const renaming = sqlite.query(`UPDATE thread_chats SET thread_id = ? WHERE ${within} AND thread_id = ?`);
  // Run ids sort by time, which gives the position after a run, even if that run has no messages.
  const firstBehind = sqlite.query<{ position: number | null }, string[]>(
    `SELECT min(position) AS position FROM thread_messages WHERE ${within} AND thread_id = ? AND run_id > ?`,
  );
  const selectMessages = sqlite.query<StoredMessage, (string | number)[]>(
    `SELECT position, run_id, message, prompt, created_at_ms FROM thread_messages
     WHERE ${within} AND thread_id = ? AND position > ? AND position < ? ORDER BY position LIMIT ${piece}`,
  );
  const copy = sqlite.query(
    `INSERT INTO thread_messages (project_id, environment, thread_id, position, id, run_id, message, prompt, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // The copy keeps its inline images alive; other files are not reference-counted.
  const insertImageUses = sqlite.query(
    `INSERT OR IGNORE INTO image_uses (project_id, environment, file_id, owner_id)
     SELECT ?1, ?2, shown.value ->> 'file_id', ?3 FROM json_each(?4, '$.images') AS shown WHERE EXISTS (
       SELECT 1 FROM image_uses WHERE project_id = ?1 AND environment = ?2 AND file_id = shown.value ->> 'file_id')`,
  );
  const updateThreadCount = sqlite.query(
    `UPDATE threads SET message_count = message_count + ?, last_run_id = coalesce(?, last_run_id) WHERE ${within} AND id = ?`,
  );
  const dropping = sqlite.query(
    `DELETE FROM threads WHERE ${within} AND id = ? AND NOT EXISTS (SELECT 1 FROM runs
       WHERE runs.project_id = threads.project_id AND runs.environment = threads.environment AND thread_id = threads.id)`,
  );

  const keyOf = ({ project_id, environment }: Scope, { agent_id, user_id, chat }: ChatName): string[] => [
    project_id,
    environment,
    agent_id,
    user_id ?? "",
    chat,
  ];

  /** Returns the thread of this name, or null. Throws if agents worked in it that the viewer does not see. */
  function threadOf(viewer: Viewer, name: ChatName): string | null {
    const found = selection.get(...keyOf(viewer, name));
    if (found && !known(viewer, found.thread_id)) throw notFound();
    return found?.thread_id ?? null;
  }

  function newThread(user_id: string | null): NewThread {
    const at = now();
    return {
      id: newId("thread", at),
      title: null,
      user_id,
      session_id: null,
      variables: null,
      metadata: {},
      message_count: 0,
      last_run_id: null,
      last_agent_id: null,
      created_at_ms: at,
      updated_at_ms: at,
    };
  }

  /**
   * Returns the thread of this name, or reserves one that its first run creates. Concurrent calls get the same one;
   * each must call `release`.
   */
  function reserve(viewer: Viewer, name: ChatName): string {
    const existingId = threadOf(viewer, name);
    if (existingId !== null) return existingId;
    const key = JSON.stringify(keyOf(viewer, name));
    const of = [...reservations.values()].find((one) => one.key === key) ?? {
      viewer,
      name,
      key,
      thread: newThread(name.user_id),
      holders: 0,
    };
    of.holders++;
    reservations.set(of.thread.id, of);
    return of.thread.id;
  }

  /** Creates a reserved thread. Call inside a write, which may be retried. */
  function begin(id: string): void {
    const of = reservations.get(id);
    if (!of || selection.get(...keyOf(of.viewer, of.name))) return;
    insert(of.viewer, of.thread);
    insertChat.run(...keyOf(of.viewer, of.name), id);
  }

  /** Call when a run was created in this thread, or refused. */
  function release(id: string): void {
    inPlaceOf.delete(id);
    const of = reservations.get(id);
    if (of && --of.holders === 0) reservations.delete(id);
  }

  return {
    threadOf,

    reserve,
    begin,

    /** Returns the thread of this name, creating it if absent. */
    async open(viewer: Viewer, name: ChatName): Promise<string> {
      const id = reserve(viewer, name);
      try {
        await db.write(() => begin(id));
      } finally {
        release(id);
      }
      return id;
    },

    /** Returns a reserved thread, if the viewer may see it. */
    reservedFor({ project_id, environment }: Viewer, id: string): NewThread | null {
      const of = reservations.get(id);
      return of?.viewer.project_id === project_id && of.viewer.environment === environment ? of.thread : null;
    },

    /** True if the thread has messages after a run, or any if `keep` is null. */
    goesOnBehind: ({ project_id, environment }: Viewer, threadId: string, keep: string | null): boolean =>
      onlyRow(firstBehind.get(project_id, environment, threadId, keep ?? "")).position !== null,

    /** Copies a thread's messages up to a run, or none, into a new thread. The name moves to it with its first run. */
    async cut(viewer: Viewer, threadId: string, keep: string | null): Promise<string> {
      const scope = [viewer.project_id, viewer.environment] as const;
      const { id, end } = await db.write(() => {
        const old = known(viewer, threadId) ?? throwNotFound();
        const { title, user_id, session_id, metadata } = old;
        const thread = { ...newThread(user_id), title, session_id, metadata };
        insert(viewer, thread);
        inPlaceOf.set(thread.id, threadId);
        return { id: thread.id, end: onlyRow(firstBehind.get(...scope, threadId, keep ?? "")).position };
      });
      const copyFrom = (place: number): number | null => {
        const messages = selectMessages.all(...scope, threadId, place, end ?? Number.MAX_SAFE_INTEGER);
        for (const { position, run_id, message, prompt, created_at_ms } of messages) {
          const own = newId("message", now());
          const renamed = JSON.stringify({ ...parseExact<object>(message), id: own });
          copy.run(...scope, id, position, own, run_id, renamed, prompt, created_at_ms);
          insertImageUses.run(...scope, id, message);
        }
        const lastRun = messages.findLast(({ run_id }) => run_id !== null)?.run_id ?? null;
        updateThreadCount.run(messages.length, lastRun, ...scope, id);
        return messages.length < piece ? null : lastItem(messages).position;
      };
      for (let place: number | null = 0; place !== null; ) {
        const from: number = place;
        place = await db.write(() => copyFrom(from));
      }
      return id;
    },

    /**
     * Moves the name of the replaced thread to this one, inside the write that creates its first run. The old thread
     * stays.
     */
    began({ project_id, environment }: Scope, id: string): void {
      const from = inPlaceOf.get(id);
      if (from !== undefined) renaming.run(id, project_id, environment, from);
    },

    release,

    /** Deletes a thread without runs. */
    async drop({ project_id, environment }: Viewer, id: string): Promise<void> {
      inPlaceOf.delete(id);
      await db.write(() => void dropping.run(project_id, environment, id));
    },
  };
}

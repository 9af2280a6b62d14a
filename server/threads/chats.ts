import { newId } from "../core/ids.ts";
import { missing, notFound } from "../core/not-found.ts";
import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { threadMessages, threads } from "../db/schema.ts";
import type { Viewer } from "../http/auth.ts";
import { parseExact } from "../lib/exact-numbers.ts";

/** A conversation with an agent as a client calls it: of one user, or of nobody. */
interface ChatName {
  agent_id: string;
  user_id: string | null;
  chat: string;
}

type NewThread = Omit<typeof threads.$inferSelect, keyof Scope>;

interface ChatOptions {
  db: Pick<Db, "sqlite" | "write">;
  /** The thread as whoever asks may see it. */
  known(viewer: Viewer, id: string): NewThread | null;
  /** Within a write. */
  insert(scope: Scope, thread: NewThread): void;
  now: () => number;
}

interface Promised {
  viewer: Scope;
  name: ChatName;
  /** Both, as one text. */
  key: string;
  thread: NewThread;
  /** How many requests are yet to begin in it, or to be refused. */
  holders: number;
}

type Said = Pick<typeof threadMessages.$inferSelect, "position" | "run_id" | "message" | "prompt" | "created_at_ms">;

/** How many messages are copied within one write: others write meanwhile. */
const piece = 50;

const within = "project_id = ? AND environment = ?";

/** Threads by the names that clients of other protocols give them. */
export function createChats({ db, known, insert, now }: ChatOptions) {
  const { sqlite } = db;
  /** By threads that have no run yet, the one that each goes on with. In memory: after a crash, nobody begins in them. */
  const inPlaceOf = new Map<string, string>();
  /** Threads that begin with their first run, in its write. */
  const promised = new Map<string, Promised>();
  const selection = sqlite.query<{ thread_id: string }, string[]>(
    `SELECT thread_id FROM thread_chats WHERE ${within} AND agent_id = ? AND user_id = ? AND chat = ?`,
  );
  const naming = sqlite.query(
    "INSERT INTO thread_chats (project_id, environment, agent_id, user_id, chat, thread_id) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const renaming = sqlite.query(`UPDATE thread_chats SET thread_id = ? WHERE ${within} AND thread_id = ?`);
  // The ids of runs sort by their time: so the place behind a run is found, also of one that has said nothing.
  const firstBehind = sqlite.query<{ position: number | null }, string[]>(
    `SELECT min(position) AS position FROM thread_messages WHERE ${within} AND thread_id = ? AND run_id > ?`,
  );
  const saidBetween = sqlite.query<Said, (string | number)[]>(
    `SELECT position, run_id, message, prompt, created_at_ms FROM thread_messages
     WHERE ${within} AND thread_id = ? AND position > ? AND position < ? ORDER BY position LIMIT ${piece}`,
  );
  const copy = sqlite.query(
    `INSERT INTO thread_messages (project_id, environment, thread_id, position, id, run_id, message, prompt, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // What the copy shows stays as long as the copy does. Of other files nobody keeps count.
  const showing = sqlite.query(
    `INSERT OR IGNORE INTO image_uses (project_id, environment, file_id, owner_id)
     SELECT ?1, ?2, shown.value ->> 'file_id', ?3 FROM json_each(?4, '$.images') AS shown WHERE EXISTS (
       SELECT 1 FROM image_uses WHERE project_id = ?1 AND environment = ?2 AND file_id = shown.value ->> 'file_id')`,
  );
  const counting = sqlite.query(
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

  /** The thread of this name; null where there is none. Throws for one in which agents worked that the viewer does not see. */
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
      metadata: {},
      message_count: 0,
      last_run_id: null,
      created_at_ms: at,
      updated_at_ms: at,
    };
  }

  /**
   * The thread of this name; where there is none, one that begins with its first run. Whoever asks for this name before
   * that gets the same; each says when it is `settled`.
   */
  function promise(viewer: Viewer, name: ChatName): string {
    const there = threadOf(viewer, name);
    if (there !== null) return there;
    const key = JSON.stringify(keyOf(viewer, name));
    const of = [...promised.values()].find((one) => one.key === key) ?? {
      viewer,
      name,
      key,
      thread: newThread(name.user_id),
      holders: 0,
    };
    of.holders++;
    promised.set(of.thread.id, of);
    return of.thread.id;
  }

  /** Within a write, which may be done twice: a promised thread is there from here on. */
  function begin(id: string): void {
    const of = promised.get(id);
    if (!of || selection.get(...keyOf(of.viewer, of.name))) return;
    insert(of.viewer, of.thread);
    naming.run(...keyOf(of.viewer, of.name), id);
  }

  /** A run has begun in this thread, or was refused. */
  function settled(id: string): void {
    inPlaceOf.delete(id);
    const of = promised.get(id);
    if (of && --of.holders === 0) promised.delete(id);
  }

  return {
    threadOf,

    promise,
    begin,

    /** The same, made where there is none. */
    async open(viewer: Viewer, name: ChatName): Promise<string> {
      const id = promise(viewer, name);
      try {
        await db.write(() => begin(id));
      } finally {
        settled(id);
      }
      return id;
    },

    /** A thread that is yet to begin, as whoever asks may see it. */
    promisedTo({ project_id, environment }: Viewer, id: string): NewThread | null {
      const of = promised.get(id);
      return of?.viewer.project_id === project_id && of.viewer.environment === environment ? of.thread : null;
    },

    /** Whether something was said behind a run, or at all. */
    goesOnBehind: ({ project_id, environment }: Viewer, threadId: string, keep: string | null): boolean =>
      firstBehind.get(project_id, environment, threadId, keep ?? "")!.position !== null,

    /** A new thread with what was said up to a run, or with nothing. It has the name from its first run on. */
    async cut(viewer: Viewer, threadId: string, keep: string | null): Promise<string> {
      const scope = [viewer.project_id, viewer.environment] as const;
      const { id, end } = await db.write(() => {
        const old = known(viewer, threadId) ?? missing();
        const { title, user_id, session_id, metadata } = old;
        const thread = { ...newThread(user_id), title, session_id, metadata };
        insert(viewer, thread);
        inPlaceOf.set(thread.id, threadId);
        return { id: thread.id, end: firstBehind.get(...scope, threadId, keep ?? "")!.position };
      });
      const copyFrom = (place: number): number | null => {
        const said = saidBetween.all(...scope, threadId, place, end ?? Number.MAX_SAFE_INTEGER);
        for (const { position, run_id, message, prompt, created_at_ms } of said) {
          const own = newId("message", now());
          const renamed = JSON.stringify({ ...parseExact<object>(message), id: own });
          copy.run(...scope, id, position, own, run_id, renamed, prompt, created_at_ms);
          showing.run(...scope, id, message);
        }
        const lastRun = said.findLast(({ run_id }) => run_id !== null)?.run_id ?? null;
        counting.run(said.length, lastRun, ...scope, id);
        return said.length < piece ? null : said.at(-1)!.position;
      };
      for (let place: number | null = 0; place !== null; ) {
        const from: number = place;
        place = await db.write(() => copyFrom(from));
      }
      return id;
    },

    /**
     * Within the write of a run, and so with it or not at all: the name of the thread in whose place this one goes on leads
     * here. The old one stays as it is.
     */
    began({ project_id, environment }: Scope, id: string): void {
      const from = inPlaceOf.get(id);
      if (from !== undefined) renaming.run(id, project_id, environment, from);
    },

    settled,

    /** Deletes a thread in which no run was made. */
    async drop({ project_id, environment }: Viewer, id: string): Promise<void> {
      inPlaceOf.delete(id);
      await db.write(() => void dropping.run(project_id, environment, id));
    },
  };
}

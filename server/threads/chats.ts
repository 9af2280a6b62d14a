import { newId } from "../core/ids.ts";
import { notFound } from "../core/not-found.ts";
import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { threadMessages, threads } from "../db/schema.ts";
import type { Viewer } from "../http/auth.ts";

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

type Said = Pick<typeof threadMessages.$inferSelect, "run_id" | "message" | "prompt" | "created_at_ms">;

const within = "project_id = ? AND environment = ?";

/** Threads by the names that clients of other protocols give them. */
export function createChats({ db, known, insert, now }: ChatOptions) {
  const { sqlite } = db;
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
  const saidBefore = sqlite.query<Said, (string | number)[]>(
    `SELECT run_id, message, prompt, created_at_ms FROM thread_messages
     WHERE ${within} AND thread_id = ? AND position < ? ORDER BY position`,
  );
  const copy = sqlite.query(
    `INSERT INTO thread_messages (project_id, environment, thread_id, position, id, run_id, message, prompt, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  const keyOf = ({ project_id, environment }: Scope, { agent_id, user_id, chat }: ChatName): string[] => [
    ...[project_id, environment, agent_id, user_id ?? "", chat],
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
      ...{ id: newId("thread", at), title: null, user_id, session_id: null, metadata: {} },
      ...{ message_count: 0, last_run_id: null, created_at_ms: at, updated_at_ms: at },
    };
  }

  return {
    threadOf,

    /** The same, made where there is none. */
    open: (viewer: Viewer, name: ChatName): Promise<string> =>
      db.write(() => {
        const there = threadOf(viewer, name);
        if (there !== null) return there;
        const thread = newThread(name.user_id);
        insert(viewer, thread);
        naming.run(...keyOf(viewer, name), thread.id);
        return thread.id;
      }),

    /** Whether something was said behind a run, or at all. */
    goesOnBehind: ({ project_id, environment }: Viewer, threadId: string, keep: string | null): boolean =>
      firstBehind.get(project_id, environment, threadId, keep ?? "")!.position !== null,

    /**
     * Goes on behind a run, or from the beginning, in a new thread: the name leads there from then on. The old one stays as
     * it is.
     */
    rewind: (viewer: Viewer, threadId: string, keep: string | null): Promise<string> =>
      db.write(() => {
        const old = known(viewer, threadId);
        if (!old) throw notFound();
        const scope = [viewer.project_id, viewer.environment] as const;
        const { position } = firstBehind.get(...scope, threadId, keep ?? "")!;
        const said = saidBefore.all(...scope, threadId, position ?? Number.MAX_SAFE_INTEGER);
        const { title, session_id, metadata } = old;
        const last_run_id = said.findLast(({ run_id }) => run_id !== null)?.run_id ?? null;
        const thread = {
          ...newThread(old.user_id),
          title,
          session_id,
          metadata,
          last_run_id,
          message_count: said.length,
        };
        insert(viewer, thread);
        for (const [index, { run_id, message, prompt, created_at_ms }] of said.entries()) {
          const id = newId("message", now());
          const renamed = JSON.stringify({ ...JSON.parse(message), id });
          copy.run(...scope, thread.id, index + 1, id, run_id, renamed, prompt, created_at_ms);
        }
        renaming.run(thread.id, ...scope, threadId);
        return thread.id;
      }),
  };
}

import type { Database } from "bun:sqlite";
import { historyOf, openCalls } from "../core/history.ts";
import type { PromptMessage } from "../core/model-call.ts";
import type { Scope } from "../core/scope.ts";
import type { ThreadMessage } from "../core/thread-messages.ts";
import type { threadMessages } from "../db/schema.ts";
import { fillPage, noSuchPlace, type Page, read, toList } from "../http/page.ts";
import { parseExact } from "../lib/exact-numbers.ts";

type ThreadKey = Scope & { id: string };

type MessageObject = ThreadMessage["message"];

type MessageRow = Pick<typeof threadMessages.$inferSelect, "position" | "run_id" | "message">;

const within = "project_id = ? AND environment = ? AND thread_id = ?";

/**
 * One page of a thread. By position and not by id, unlike other lists: a run that waits in line has its message, and so the
 * id of it, before the one ahead of it has answered.
 */
export async function listMessages(sqlite: Database, thread: ThreadKey, page: Page) {
  const { limit, order, starting_after, ending_before } = page;
  const cursor = starting_after ?? ending_before;
  const backwards = ending_before !== null;
  const descending = (order === "desc") !== backwards;
  const from = cursor === null ? null : positionOf(sqlite, thread, cursor);
  const select = sqlite.query<MessageRow, (string | number)[]>(
    `SELECT position, run_id, message FROM thread_messages WHERE ${within} AND position ${descending ? "<" : ">"} ?
     ORDER BY position ${descending ? "DESC" : "ASC"} LIMIT ?`,
  );
  const rows = read(
    (after: number, most) => select.all(...keyOf(thread), after, most),
    from ?? (descending ? Number.MAX_SAFE_INTEGER : 0),
    ({ position }) => position,
  );
  const { data, has_more } = await fillPage(rows, limit, toMessage);
  return toList(backwards ? data.reverse() : data, has_more, ({ id }) => id);
}

const toMessage = ({ run_id, message }: MessageRow) => ({ ...parseExact<MessageObject>(message), run_id });

/** Puts messages behind the last one of a thread, within a write. `run_id` is the run that said them, if one did. */
export function createAppend(sqlite: Database) {
  const lastPosition = sqlite.query<{ n: number }, [string, string, string]>(
    `SELECT coalesce(max(position), 0) AS n FROM thread_positions WHERE ${within}`,
  );
  const insertion = sqlite.query(
    `INSERT INTO thread_messages (project_id, environment, thread_id, position, id, run_id, message, prompt, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (thread: ThreadKey, run_id: string | null, messages: readonly ThreadMessage[]): void => {
    if (messages.length === 0) return;
    const last = lastPosition.get(...keyOf(thread))!.n;
    for (const [index, { id, message, prompt, at }] of messages.entries())
      insertion.run(
        ...keyOf(thread),
        last + index + 1,
        id,
        run_id,
        JSON.stringify(message),
        JSON.stringify(prompt),
        at,
      );
  };
}

/** The newest messages of a thread as a model reads them, oldest first. */
export function historyWithin(sqlite: Database, thread: ThreadKey, max: number): PromptMessage[] {
  const rows = sqlite
    .query<{ prompt: string }, (string | number)[]>(
      `SELECT prompt FROM thread_messages WHERE ${within} ORDER BY position DESC LIMIT ?`,
    )
    .iterate(...keyOf(thread), max);
  return historyOf(rows);
}

/** Calls of the newest answer in a thread that have no result. */
export function openCallsIn(sqlite: Database, thread: ThreadKey): Map<string, string> {
  const newest: PromptMessage[] = [];
  const rows = sqlite
    .query<{ prompt: string }, string[]>(`SELECT prompt FROM thread_messages WHERE ${within} ORDER BY position DESC`)
    .iterate(...keyOf(thread));
  for (const { prompt } of rows) {
    newest.unshift(parseExact(prompt));
    if (newest[0]!.role !== "tool") break;
  }
  return openCalls(newest);
}

function positionOf(sqlite: Database, thread: ThreadKey, id: string): number {
  const row = sqlite
    .query<{ position: number }, string[]>(`SELECT position FROM thread_positions WHERE ${within} AND id = ?`)
    .get(...keyOf(thread), id);
  if (!row) throw noSuchPlace();
  return row.position;
}

const keyOf = ({ project_id, environment, id }: ThreadKey): [string, string, string] => [project_id, environment, id];

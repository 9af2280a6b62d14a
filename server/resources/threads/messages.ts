import type { Database } from "bun:sqlite";
import { historyLength, historyOf, openCalls } from "../../domain/history.ts";
import type { PromptMessage } from "../../domain/model-call.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ThreadMessage } from "../../domain/thread-messages.ts";
import { fillPage, invalidCursor, type Page, readRows, toList } from "../../http/page.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { threadMessages } from "../../storage/db/schema.ts";

type ThreadKey = Scope & { id: string };

type MessageObject = ThreadMessage["message"];

type MessageRow = Pick<typeof threadMessages.$inferSelect, "position" | "run_id" | "message">;

const within = "project_id = ? AND environment = ? AND thread_id = ?";

/**
 * Lists a page of messages, by position instead of id: a queued run has its message, and that message's id, before the
 * run ahead of it has ended.
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
  const rows = readRows(
    (after: number, most) => select.all(...keyOf(thread), after, most),
    from ?? (descending ? Number.MAX_SAFE_INTEGER : 0),
    ({ position }) => position,
  );
  const { data, has_more } = await fillPage(rows, limit, toMessage);
  return toList(backwards ? data.reverse() : data, has_more, ({ id }) => id);
}

const toMessage = ({ run_id, message }: MessageRow) => ({ ...parseExact<MessageObject>(message), run_id });

/** Appends messages to a thread. `run_id`: the run that produced them, if any. Call inside a write. */
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
    const last = onlyRow(lastPosition.get(...keyOf(thread))).n;
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

/** At most `max` newest messages of a thread in prompt form, oldest first. */
export function historyWithin(sqlite: Database, thread: ThreadKey, max: number): PromptMessage[] {
  const total = sqlite
    .query<{ n: number }, string[]>(`SELECT count(*) AS n FROM thread_messages WHERE ${within}`)
    .get(...keyOf(thread));
  const rows = sqlite
    .query<{ prompt: string }, (string | number)[]>(
      `SELECT prompt FROM thread_messages WHERE ${within} ORDER BY position DESC LIMIT ?`,
    )
    .iterate(...keyOf(thread), historyLength(onlyRow(total).n, max));
  return historyOf(rows);
}

/** Tool calls of the thread's newest assistant message that have no result. */
export function openCallsIn(sqlite: Database, thread: ThreadKey): Map<string, string> {
  const newest: PromptMessage[] = [];
  const rows = sqlite
    .query<{ prompt: string }, string[]>(`SELECT prompt FROM thread_messages WHERE ${within} ORDER BY position DESC`)
    .iterate(...keyOf(thread));
  for (const { prompt } of rows) {
    const message: PromptMessage = parseExact(prompt);
    newest.unshift(message);
    if (message.role !== "tool") break;
  }
  return openCalls(newest);
}

function positionOf(sqlite: Database, thread: ThreadKey, id: string): number {
  const row = sqlite
    .query<{ position: number }, string[]>(`SELECT position FROM thread_positions WHERE ${within} AND id = ?`)
    .get(...keyOf(thread), id);
  if (!row) throw invalidCursor();
  return row.position;
}

const keyOf = ({ project_id, environment, id }: ThreadKey): [string, string, string] => [project_id, environment, id];

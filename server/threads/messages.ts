import type { Database } from "bun:sqlite";
import { AppError } from "../core/errors.ts";
import { historyOf } from "../core/history.ts";
import type { PromptMessage } from "../core/model-call.ts";
import type { messageObject } from "../core/run-object.ts";
import type { Scope } from "../core/scope.ts";
import type { ThreadMessage } from "../core/thread-messages.ts";
import { type Page, toList } from "../http/page.ts";

type ThreadKey = Scope & { id: string };

type MessageObject = ReturnType<typeof messageObject>;

interface MessageRow {
  position: number;
  run_id: string | null;
  message: string;
}

const within = "project_id = ? AND environment = ? AND thread_id = ?";

/**
 * One page of a thread. By position and not by id, unlike other lists: a run that waits in line has its message, and so the
 * id of it, before the one ahead of it has answered.
 */
export function listMessages(sqlite: Database, thread: ThreadKey, page: Page) {
  const { limit, order, starting_after, ending_before } = page;
  const cursor = starting_after ?? ending_before;
  const backwards = ending_before !== null;
  const descending = (order === "desc") !== backwards;
  const from = cursor === null ? null : positionOf(sqlite, thread, cursor);
  const rows = sqlite
    .query<MessageRow, (string | number)[]>(
      `SELECT position, run_id, message FROM thread_messages
       WHERE ${within} ${from === null ? "" : `AND position ${descending ? "<" : ">"} ?`}
       ORDER BY position ${descending ? "DESC" : "ASC"} LIMIT ?`,
    )
    .all(...keyOf(thread), ...(from === null ? [] : [from]), limit + 1);
  const has_more = rows.length > limit;
  if (has_more) rows.pop();
  if (backwards) rows.reverse();
  return toList({ rows, has_more }, ({ run_id, message }) => ({ ...(JSON.parse(message) as MessageObject), run_id }));
}

/** Puts messages behind the last one of a thread, within a write. `run_id` is the run that said them, if one did. */
export function createAppend(sqlite: Database) {
  const lastPosition = sqlite.query<{ n: number }, [string, string, string]>(
    `SELECT coalesce(max(position), 0) AS n FROM thread_messages WHERE ${within}`,
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
        ...[...keyOf(thread), last + index + 1, id, run_id],
        ...[JSON.stringify(message), JSON.stringify(prompt), at],
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

function positionOf(sqlite: Database, thread: ThreadKey, id: string): number {
  const row = sqlite
    .query<{ position: number }, string[]>(`SELECT position FROM thread_messages WHERE ${within} AND id = ?`)
    .get(...keyOf(thread), id);
  if (!row) throw new AppError("invalid_cursor", "The cursor is not the id of anything in this list.");
  return row.position;
}

const keyOf = ({ project_id, environment, id }: ThreadKey): [string, string, string] => [project_id, environment, id];

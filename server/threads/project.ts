import type { Database } from "bun:sqlite";
import { endsRun } from "../core/run-event.ts";
import { fold, initialState, type RunState } from "../core/run-state.ts";
import { threadMessages } from "../core/thread-messages.ts";
import { areFirst, type Projector } from "../journal/journal.ts";
import { createAppend } from "./messages.ts";

/**
 * Writes what a run said into its thread, in the transaction of the run's end: whoever begins after it has it all.
 * `stateOf` is the run so far, or null where its record is damaged: then nothing of it can be told.
 */
export function createThreadProjector(sqlite: Database, stateOf: (runId: string) => RunState | null): Projector {
  const touch = sqlite.query(
    `UPDATE threads SET last_run_id = max(coalesce(last_run_id, ''), ?), updated_at_ms = max(updated_at_ms, ?), message_count = message_count + ?
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const append = createAppend(sqlite);

  return ({ run_id, project_id, environment, thread_id }, entries) => {
    const isNew = areFirst(entries);
    const isEnd = entries.some(({ event }) => endsRun(event));
    if (!thread_id || (!isEnd && !isNew)) return;
    const known = isEnd ? (isNew ? initialState : stateOf(run_id)) : null;
    const messages = known ? threadMessages(fold(entries, known)) : [];
    const { at } = entries.at(-1)!;
    // Whoever deleted the thread has deleted what would have been said in it.
    if (touch.run(run_id, at, messages.length, project_id, environment, thread_id).changes === 0) return;
    append({ project_id, environment, id: thread_id }, run_id, messages);
  };
}

import type { Database } from "bun:sqlite";
import type { JournalEntry } from "../core/run-event.ts";
import { fold, initialState, type RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { threadMessages } from "../core/thread-messages.ts";
import type { Projector, RunHead } from "../journal/journal.ts";
import { createAppend } from "./messages.ts";

type Owner = Scope & { thread_id: string | null };

/**
 * Writes what a run said into its thread, in the transaction of the run's end: whoever begins after it has it all.
 * `stateOf` is the run so far, or null where its record is damaged: then nothing of it can be told.
 */
export function createThreadProjector(sqlite: Database, stateOf: (runId: string) => RunState | null): Projector {
  const ownerOf = sqlite.query<Owner, [string]>("SELECT project_id, environment, thread_id FROM runs WHERE id = ?");
  const touch = sqlite.query(
    `UPDATE threads SET last_run_id = max(coalesce(last_run_id, ''), ?), updated_at_ms = max(updated_at_ms, ?), message_count = message_count + ?
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const append = createAppend(sqlite);

  return (head, entries) => {
    const [first] = entries;
    const isEnd = entries.some(({ event: { type } }) => ends.has(type));
    if (!isEnd && (head || first?.event.type !== "run.created")) return;
    const run_id = runOf(head, first!);
    const owner = ownerOf.get(run_id);
    if (!owner?.thread_id) return;
    const { project_id, environment, thread_id } = owner;
    const known = isEnd ? (head ? stateOf(run_id) : initialState) : null;
    const messages = known ? threadMessages(fold(entries, known)) : [];
    const { at } = entries.at(-1)!;
    // Whoever deleted the thread has deleted what would have been said in it.
    if (touch.run(run_id, at, messages.length, project_id, environment, thread_id).changes === 0) return;
    append({ project_id, environment, id: thread_id }, run_id, messages);
  };
}

const ends = new Set<string>(["run.completed", "run.failed", "run.cancelled"]);

function runOf(head: RunHead | null, { event }: JournalEntry): string {
  if (head) return head.run_id;
  if (event.type !== "run.created") throw new Error(`A journal begins with ${event.type}.`);
  return event.run_id;
}

import { endsRun, type FileFacts, type JournalEntry } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import type { Projector } from "../journal/journal.ts";
import type { FileStore } from "./store.ts";

export type Outputs = ReturnType<typeof createOutputs>;

// Longer than any call that has made something takes to end.
const keep_ms = 15 * 60_000;

/**
 * What tools have made and no result tells of yet: bytes wait in memory for the entry that ends their call, and become
 * files in its transaction. A call that never ends leaves none.
 */
export function createOutputs({
  files,
  now = Date.now,
}: {
  files: Pick<FileStore, "insertOutput">;
  now?: () => number;
}) {
  const kept = new Map<string, { run_id: string; content: Uint8Array; at: number }>();

  function keep(run_id: string, id: string, content: Uint8Array): void {
    for (const [old, { at }] of kept) if (at < now() - keep_ms) kept.delete(old);
    kept.set(id, { run_id, content, at: now() });
  }

  /** Within a write: makes files of them. `of` names the call, if there is one. */
  function insert(
    scope: Scope,
    made: readonly FileFacts[],
    of: { run_id: string | null; tool_call_id: string | null },
  ) {
    for (const { id, filename, mime_type } of made) {
      const output = kept.get(id);
      if (!output) throw new Error(`The content of ${id} is gone.`);
      files.insertOutput(scope, { id, filename, mime_type, content: output.content, ...of });
    }
  }

  function forget(made: readonly FileFacts[]): void {
    for (const { id } of made) kept.delete(id);
  }

  const project: Projector = (run, entries) => {
    for (const { event } of entries)
      if (event.type === "tool.completed" && event.files)
        insert(run, event.files, { run_id: run.run_id, tool_call_id: event.tool_call_id });
  };

  return {
    keep,
    insert,
    project,
    /** After the commit: a write may be tried more than once. */
    forget,
    /** The same of entries of a run; once it is over, nothing more of it becomes a file. */
    committed(runId: string, entries: readonly JournalEntry[]): void {
      for (const { event } of entries) {
        if (event.type === "tool.completed" && event.files) forget(event.files);
        if (endsRun(event)) for (const [id, { run_id }] of kept) if (run_id === runId) kept.delete(id);
      }
    },
    /** How much waits, in bytes. */
    waiting_bytes: (): number => [...kept.values()].reduce((sum, { content }) => sum + content.length, 0),
  };
}

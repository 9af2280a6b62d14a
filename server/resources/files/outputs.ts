import { endsRun, type FileFacts, type JournalEntry } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import type { WorkspaceChange } from "../../domain/workspace-schema.ts";
import type { Projector } from "../../storage/journal/journal.ts";
import type { FileStore } from "./store.ts";

export type Outputs = ReturnType<typeof createOutputs>;

// Longer than any call takes to end after it made a file.
const keep_ms = 15 * 60_000;

/**
 * Holds tool outputs in memory until the entry that ends their call makes them files in its transaction. A call that
 * never ends leaves none.
 */
export function createOutputs({ files, now = Date.now }: { files: FileStore; now?: () => number }) {
  const pendingOutputs = new Map<string, { run_id: string; content: Uint8Array; at: number }>();

  function keep(run_id: string, id: string, content: Uint8Array): void {
    for (const [old, { at }] of pendingOutputs) if (at < now() - keep_ms) pendingOutputs.delete(old);
    pendingOutputs.set(id, { run_id, content, at: now() });
  }

  /** Holds a content of a workspace, until the entry that ends the call names it. */
  const keepContent = (run_id: string, sha256: string, content: Uint8Array): void =>
    keep(run_id, contentKey(run_id, sha256), content);

  /** Inserts outputs as files; `of` names the call, if any. Call inside a write. */
  function insert(
    scope: Scope,
    createdFiles: readonly FileFacts[],
    of: { run_id: string | null; tool_call_id: string | null },
  ) {
    for (const { id, filename, mime_type } of createdFiles) {
      const output = pendingOutputs.get(id);
      if (!output) throw new Error(`The content of ${id} is gone.`);
      files.insertOutput(scope, { id, filename, mime_type, content: output.content, ...of });
    }
  }

  function forget(made: readonly FileFacts[]): void {
    for (const { id } of made) pendingOutputs.delete(id);
  }

  const project: Projector = (run, entries) => {
    for (const { event } of entries)
      if (event.type === "tool.completed" && event.files)
        insert(run, event.files, { run_id: run.run_id, tool_call_id: event.tool_call_id });
  };

  return {
    keep,
    keepContent,
    /** Returns a content that is held for the run. */
    contentOf: (run_id: string, sha256: string): Uint8Array | null =>
      pendingOutputs.get(contentKey(run_id, sha256))?.content ?? null,
    /** Forgets the contents that an entry named. */
    forgetContents(run_id: string, { changed, variables }: WorkspaceChange): void {
      for (const { sha256 } of [...changed, ...(variables ? [variables] : [])])
        pendingOutputs.delete(contentKey(run_id, sha256));
    },
    insert,
    project,
    /** Call after the commit, because a write may be retried. */
    forget,
    /** Forgets the outputs that these entries recorded, and all outputs of a run that ended. */
    committed(runId: string, entries: readonly JournalEntry[]): void {
      for (const { event } of entries) {
        if (event.type === "tool.completed" && event.files) forget(event.files);
        if (endsRun(event))
          for (const [id, { run_id }] of pendingOutputs) if (run_id === runId) pendingOutputs.delete(id);
      }
    },
    /** Bytes of outputs in memory. */
    waiting_bytes: (): number => [...pendingOutputs.values()].reduce((sum, { content }) => sum + content.length, 0),
  };
}

/** Contents of different runs may be equal, and are held apart. */
const contentKey = (run_id: string, sha256: string): string => `${run_id} ${sha256}`;

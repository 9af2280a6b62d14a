import type { JournalEntry } from "../../domain/run-event.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import { contentsOf, emptyWorkspace, workspaceAfter } from "../../domain/workspace.ts";
import type { Workspace, WorkspaceChange } from "../../domain/workspace-schema.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Projector } from "../../storage/journal/journal.ts";
import type { Outputs } from "./outputs.ts";

interface Needs {
  db: Db;
  blobs: FileBlobs;
  outputs: Pick<Outputs, "contentOf" | "forgetContents">;
}

type OwnerKey = ScopeColumns & { owner_id: string };

/**
 * Folders that programs share. A run's is in its journal; a thread's is a row that follows from the journals of its runs.
 * Both hold the contents that they name.
 */
export function createWorkspaces({ db: { sqlite }, blobs, outputs }: Needs) {
  const scope = "project_id = $project_id AND environment = $environment";
  const insertion = sqlite.query(
    `INSERT OR IGNORE INTO workspace_contents (project_id, environment, owner_id, sha256)
     SELECT $project_id, $environment, $owner_id, $sha256 WHERE EXISTS (
       SELECT 1 FROM file_blobs WHERE ${scope} AND sha256 = $sha256)`,
  );
  // Not what the source's journal names: an imported one may name any content.
  const copying = sqlite.query(
    `INSERT OR IGNORE INTO workspace_contents (project_id, environment, owner_id, sha256)
     SELECT project_id, environment, $owner_id, sha256 FROM workspace_contents WHERE ${scope} AND owner_id = $source_id`,
  );
  const selectHeld = sqlite.query<unknown, OwnerKey & { sha256: string }>(
    `SELECT 1 FROM workspace_contents WHERE ${scope} AND owner_id = $owner_id AND sha256 = $sha256`,
  );
  const deleteOthers = sqlite.query(
    `DELETE FROM workspace_contents WHERE ${scope} AND owner_id = $owner_id
       AND sha256 NOT IN (SELECT value FROM json_each($kept))`,
  );
  const selectThread = sqlite.query<{ workspace: string }, OwnerKey>(
    `SELECT workspace FROM thread_workspaces WHERE ${scope} AND thread_id = $owner_id`,
  );
  // The thread may have been deleted meanwhile.
  const setThread = sqlite.query(
    `INSERT INTO thread_workspaces (project_id, environment, thread_id, workspace, updated_at_ms)
     SELECT project_id, environment, id, $workspace, $at FROM threads WHERE ${scope} AND id = $owner_id
     ON CONFLICT DO UPDATE SET workspace = excluded.workspace, updated_at_ms = excluded.updated_at_ms`,
  );

  const ofThread = (key: OwnerKey): Workspace => {
    const row = selectThread.get(key);
    return row ? JSON.parse(row.workspace) : emptyWorkspace;
  };

  /** Holds the contents that exist, of those that the change names. */
  function hold(key: OwnerKey, run_id: string, change: WorkspaceChange): void {
    const { start, given = [], changed, variables } = change;
    const named = [...given, ...changed, ...(variables ? [variables] : [])].map(({ sha256 }) => sha256);
    for (const sha256 of new Set([...(start ? contentsOf(start) : []), ...named])) {
      const content = outputs.contentOf(run_id, sha256);
      if (content) blobs.put(key, content);
      insertion.run({ ...key, sha256 });
    }
  }

  function changeThread(key: OwnerKey, { start: _, ...change }: WorkspaceChange, at: number): void {
    const workspace = workspaceAfter(ofThread(key), change);
    const { changes } = setThread.run({ ...key, workspace: JSON.stringify(workspace), at });
    if (changes === 0) return;
    const kept = contentsOf(workspace);
    for (const sha256 of kept) insertion.run({ ...key, sha256 });
    deleteOthers.run({ ...key, kept: JSON.stringify(kept) });
  }

  const project: Projector = ({ run_id, thread_id, project_id, environment }, entries) => {
    const key = { project_id, environment, owner_id: run_id };
    for (const { event, at } of entries) {
      if (event.type === "run.created" && event.forked_from)
        copying.run({ ...key, source_id: event.forked_from.run_id });
      if (event.type !== "tool.completed" || !event.workspace) continue;
      hold(key, run_id, event.workspace);
      if (event.workspace.shared_by === "thread" && thread_id)
        changeThread({ ...key, owner_id: thread_id }, event.workspace, at);
    }
  };

  return {
    project,
    /** Call after the commit, because a write may be retried. */
    committed(runId: string, entries: readonly JournalEntry[]): void {
      for (const { event } of entries)
        if (event.type === "tool.completed" && event.workspace) outputs.forgetContents(runId, event.workspace);
    },
    /** Returns the workspace of a thread, empty before its first program. */
    ofThread: ({ project_id, environment }: Scope, threadId: string): Workspace =>
      ofThread({ project_id, environment, owner_id: threadId }),
    /** Reads a part of a content that one of the owners holds; null if none does. */
    part(
      { project_id, environment }: Scope,
      owners: readonly string[],
      { sha256, start, length }: { sha256: string; start: number; length: number },
    ): Uint8Array | null {
      const key = { project_id, environment };
      if (!owners.some((owner_id) => selectHeld.get({ ...key, owner_id, sha256 }) !== null)) return null;
      const content = blobs.open(key, sha256);
      return content && Buffer.concat([...content.read({ start, end: Math.min(content.bytes, start + length) })]);
    },
  };
}

import type { Database } from "bun:sqlite";
import { AppError } from "../../domain/errors.ts";
import { siblingId } from "../../domain/ids.ts";
import { notFound } from "../../domain/not-found.ts";
import { runObject } from "../../domain/run-object.ts";
import { isOver, type RunState } from "../../domain/run-state.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { Audit, Author } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import { forgetBlobs } from "../../storage/journal/blob-refcounts.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { longestPiece } from "../../storage/journal/staged-import.ts";
import { createRequireUnpinned } from "../create/pinned-runs.ts";
import type { RunRow } from "../run-row.ts";

/** Deletes runs that are over, or only their traces, with their descendants. */
export function createRunDeletion({
  db,
  journal,
  audit,
  standing,
  rowOf,
  below,
  ended,
}: {
  db: Db;
  journal: Journal;
  audit: Audit;
  /** Throws if the run does not exist for this viewer. */
  standing(viewer: Viewer, id: string): RunRow;
  rowOf(scope: Scope, id: string): RunRow | null;
  below(id: string): string[];
  /** Returns the final state from the first and last entries; null if they are not enough. */
  ended(row: RunRow): RunState | null;
}) {
  const { sqlite } = db;
  const forgetContents = sqlite.query(
    "DELETE FROM workspace_contents WHERE project_id = ? AND environment = ? AND owner_id = ?",
  );
  const requireUnpinned = createRequireUnpinned(sqlite);

  /** Call inside a write. Returns the rows of all descendants; throws if one is not over. */
  function overBelow(viewer: Viewer, id: string): RunRow[] {
    const rows = below(id).map((child) => requireValue(rowOf(viewer, child), `The run ${child}`));
    if (!rows.every(({ status }) => isOver(status))) throw notTerminal();
    return rows;
  }

  /** Throws if the parent is not over: it may not have read the child's result yet. */
  function requireSettled(id: string): void {
    const parent = journal.head(id)?.parent_run_id;
    const head = parent ? journal.head(parent) : null;
    if (head && !isOver(head.status))
      throw new AppError("run_not_terminal", "The parent run has not ended: cancel it first.");
  }

  /**
   * Call inside a write. Deletes the journal of a run that is over and keeps its summary; `clear` deletes a long
   * journal.
   */
  function eraseTrace(row: RunRow): void {
    const state = ended(row) ?? journal.state(row.id);
    const whole = runObject({ ...state, messages: [], calls: [] }, null);
    const summary = { ...whole, trace_id: null };
    sqlite.query("UPDATE runs SET summary = ? WHERE id = ?").run(JSON.stringify(summary), row.id);
    journal.forget(row.id);
    forgetMessages(sqlite, row);
    forgetContents.run(row.project_id, row.environment, row.id);
    if (row.seq > longestPiece) journal.partial.drop(row.id);
    else {
      sqlite.query("DELETE FROM run_events WHERE run_id = ?").run(row.id);
      forgetBlobs(sqlite, row, row.id);
    }
  }

  /** Call inside a write. Deletes a run that is over. A long run is hidden at once and deleted by `clear`. */
  function erase(row: Scope & { id: string; seq: number }): void {
    journal.forget(row.id);
    forgetMessages(sqlite, row);
    if (row.seq > longestPiece) journal.partial.hide(row.id);
    else {
      forgetBlobs(sqlite, row, row.id);
      sqlite.query("DELETE FROM runs WHERE id = ?").run(row.id);
    }
  }

  return {
    /** Deletes the trace of a run that is over; its input and result stay. */
    async forgetTrace(scope: Viewer & Author, id: string): Promise<void> {
      const write = () => {
        const row = standing(scope, id);
        if (row.summary !== null) throw notFound();
        if (!isOver(row.status)) throw notTerminal();
        const children = overBelow(scope, id);
        requireUnpinned(scope, [id, ...children.map((child) => child.id)]);
        // A descendant's work is part of the run's own trace.
        for (const child of children) if (child.summary === null) eraseTrace(child);
        eraseTrace(row);
        audit.note(scope, "trace.deleted", siblingId(id, "trace"), { agent_id: row.agent_id, status: row.status });
      };
      await journal.prepared([id], () => db.write(write));
      await journal.partial.clear();
    },

    /** Deletes a run that is over and its descendants, with their journals and their unshared blobs. */
    async remove(scope: Viewer & Author, id: string): Promise<void> {
      await db.write(() => {
        const row = standing(scope, id);
        if (!isOver(row.status)) throw notTerminal();
        requireSettled(id);
        const children = overBelow(scope, id);
        requireUnpinned(scope, [id, ...children.map((child) => child.id)]);
        for (const child of children) erase(child);
        erase(row);
        audit.note(scope, "run.deleted", id, { agent_id: row.agent_id, status: row.status });
      });
      await journal.partial.clear();
    },

    erase,
    eraseTrace,
    /** Deletes the rest of hidden long records, including those left by a crash. */
    clear: journal.partial.clear,
  };
}

const notTerminal = () => new AppError("run_not_terminal", "The run has not ended: cancel it first.");

/** Removes a run's messages from its thread; their positions are not reused. */
function forgetMessages(sqlite: Database, { id, project_id, environment }: Scope & { id: string }): void {
  const keepPlacesSql = `INSERT INTO thread_places (project_id, environment, thread_id, id, position)
    SELECT project_id, environment, thread_id, id, position
    FROM thread_messages WHERE project_id = ? AND environment = ? AND run_id = ?`;
  sqlite.query(keepPlacesSql).run(project_id, environment, id);
  // Every thread with these messages, because threads that continue from this one have them too.
  const updateCountSql = `UPDATE threads SET message_count = message_count - said.n FROM
    (SELECT thread_id, count(*) AS n FROM thread_messages WHERE project_id = ?1 AND environment = ?2 AND run_id = ?3
     GROUP BY thread_id) AS said
    WHERE project_id = ?1 AND environment = ?2 AND id = said.thread_id`;
  sqlite.query(updateCountSql).run(project_id, environment, id);
  const deletion = "DELETE FROM thread_messages WHERE project_id = ? AND environment = ? AND run_id = ?";
  sqlite.query(deletion).run(project_id, environment, id);
}

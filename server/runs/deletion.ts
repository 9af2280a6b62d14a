import type { Database } from "bun:sqlite";
import { AppError } from "../core/errors.ts";
import { siblingId } from "../core/ids.ts";
import { notFound } from "../core/not-found.ts";
import { runObject } from "../core/run-object.ts";
import { isOver, type RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import type { Audit, Author } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import { forgetBlobs } from "../journal/blob-uses.ts";
import type { Journal } from "../journal/journal.ts";
import { longestPiece } from "../journal/partial.ts";
import { createRequireUnpinned } from "./pins.ts";
import type { RunRow } from "./run-row.ts";

/** Deletes runs that are over, or only their traces, with those below them. */
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
  /** Throws for a run that is not there for this viewer. */
  standing(viewer: Viewer, id: string): RunRow;
  rowOf(scope: Scope, id: string): RunRow | null;
  below(id: string): string[];
  /** The state of a run that is over by its first and last entries; null where they do not tell. */
  ended(row: RunRow): RunState | null;
}) {
  const { sqlite } = db;
  const requireUnpinned = createRequireUnpinned(sqlite);

  /** Within a write: all runs below one that is about to be deleted, with their rows; throws while one is not over. */
  function overBelow(viewer: Viewer, id: string): RunRow[] {
    const rows = below(id).map((child) => rowOf(viewer, child)!);
    if (!rows.every(({ status }) => isOver(status))) throw notTerminal();
    return rows;
  }

  /** Throws for a run whose parent may not have read yet what came of it. */
  function requireSettled(id: string): void {
    const parent = journal.head(id)?.parent_run_id;
    const head = parent ? journal.head(parent) : null;
    if (head && !isOver(head.status))
      throw new AppError("run_not_terminal", "The parent run has not ended: cancel it first.");
  }

  /** Within a write: deletes the journal of a run that is over, and leaves its summary. A long one goes with `clear`. */
  function eraseTrace(row: RunRow): void {
    const state = ended(row) ?? journal.state(row.id);
    const whole = runObject({ ...state, messages: [], calls: [] }, null);
    const summary = { ...whole, trace_id: null };
    sqlite.query("UPDATE runs SET summary = ? WHERE id = ?").run(JSON.stringify(summary), row.id);
    journal.forget(row.id);
    forgetMessages(sqlite, row);
    if (row.seq > longestPiece) journal.partial.drop(row.id);
    else {
      sqlite.query("DELETE FROM run_events WHERE run_id = ?").run(row.id);
      forgetBlobs(sqlite, row, row.id);
    }
  }

  /** Within a write: deletes a run that is over. A long one is seen by nobody from then on, and goes with `clear`. */
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
    /** Deletes what the journal tells of a run that is over; what was asked and what came of it stays. */
    async forgetTrace(scope: Viewer & Author, id: string): Promise<void> {
      const write = () => {
        const row = standing(scope, id);
        if (row.summary !== null) throw notFound();
        if (!isOver(row.status)) throw notTerminal();
        const children = overBelow(scope, id);
        requireUnpinned(scope, [id, ...children.map((child) => child.id)]);
        // What an agent did for another one is a part of what that one did.
        for (const child of children) if (child.summary === null) eraseTrace(child);
        eraseTrace(row);
        audit.note(scope, "trace.deleted", siblingId(id, "trace"), { agent_id: row.agent_id, status: row.status });
      };
      await journal.prepared([id], () => db.write(write));
      await journal.partial.clear();
    },

    /** Deletes a run that is over and those below it, with their journals and what nobody else shares of their blobs. */
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
    /** Deletes what is left of long records that are to go: those of this process, and those that a crash has left. */
    clear: journal.partial.clear,
  };
}

const notTerminal = () => new AppError("run_not_terminal", "The run has not ended: cancel it first.");

/** Takes what a run said out of its thread; the places are not given to others. */
function forgetMessages(sqlite: Database, { id, project_id, environment }: Scope & { id: string }): void {
  const keeping = `INSERT INTO thread_places (project_id, environment, thread_id, id, position)
    SELECT project_id, environment, thread_id, id, position
    FROM thread_messages WHERE project_id = ? AND environment = ? AND run_id = ?`;
  sqlite.query(keeping).run(project_id, environment, id);
  // Not its own thread alone: what goes on from there in another one has them too.
  const counting = `UPDATE threads SET message_count = message_count - said.n FROM
    (SELECT thread_id, count(*) AS n FROM thread_messages WHERE project_id = ?1 AND environment = ?2 AND run_id = ?3
     GROUP BY thread_id) AS said
    WHERE project_id = ?1 AND environment = ?2 AND id = said.thread_id`;
  sqlite.query(counting).run(project_id, environment, id);
  const deletion = "DELETE FROM thread_messages WHERE project_id = ? AND environment = ? AND run_id = ?";
  sqlite.query(deletion).run(project_id, environment, id);
}

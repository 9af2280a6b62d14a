import { newId, timeOf } from "../../domain/ids.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { Actor, StoreBase } from "../../storage/db/audit.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { projectMoves } from "../../storage/db/schema.ts";
import { exportProject, importProject, removeProject } from "./project-archive.ts";

/** A project's move out of this cell, or into it. */
export type Move = typeof projectMoves.$inferSelect;

/** Compressed size, as stored and sent. */
export interface ParcelSize {
  pieces: number;
  bytes: number;
}

interface PackOptions {
  id: string;
  project: string;
  /** This cell and the target cell. */
  from: string;
  to: string;
  actor: Actor;
  /** Larger projects are refused. */
  most_bytes: number;
}

export type MoveStore = ReturnType<typeof createMoveStore>;

const piecesPerWrite = 8;

/**
 * Moves of projects between cells. After every commit a project is in exactly one of three places: the tables of the
 * old cell, that cell's parcel, or the tables of the new cell.
 */
export function createMoveStore({ db, audit, now = Date.now }: StoreBase) {
  const { sqlite } = db;
  const columns = "id, project, name, cell, state, at_ms";
  const byId = sqlite.query<Move, [string]>(`SELECT ${columns} FROM project_moves WHERE id = ?`);
  const selectOutgoing = sqlite.query<Move, []>(`SELECT ${columns} FROM project_moves WHERE state = 'out' ORDER BY id`);
  const nameOf = sqlite.query<{ name: string }, [string]>("SELECT name FROM projects WHERE id = ?");
  const insert = sqlite.query(
    "INSERT INTO project_moves (id, project, name, cell, state, at_ms) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const insertPiece = sqlite.query("INSERT INTO project_parcels (move, position, content) VALUES (?, ?, ?)");
  const selectPiece = sqlite.query<{ content: Uint8Array }, [string, number]>(
    "SELECT content FROM project_parcels WHERE move = ? AND position = ?",
  );
  const size = sqlite.query<ParcelSize, [string]>(
    "SELECT count(*) AS pieces, coalesce(sum(length(content)), 0) AS bytes FROM project_parcels WHERE move = ?",
  );
  const deletePieces = sqlite.query(
    `DELETE FROM project_parcels WHERE (move, position) IN
       (SELECT move, position FROM project_parcels WHERE move = ? LIMIT ${piecesPerWrite})`,
  );
  const setGone = sqlite.query("UPDATE project_moves SET state = 'gone' WHERE id = ? AND state = 'out'");
  const deleteMove = sqlite.query("DELETE FROM project_moves WHERE id = ?");

  const piece = (id: string, position: number): Uint8Array =>
    requireValue(selectPiece.get(id, position), `Piece ${position} of ${id}`).content;

  return {
    find: (id: string): Move | null => byId.get(id),
    /** Moves whose project has left the tables but not this cell. */
    out: (): Move[] => selectOutgoing.all(),
    /** True if the move has brought its project in. */
    isIn: (id: string): boolean => byId.get(id)?.state === "in",
    size: (id: string): ParcelSize => onlyRow(size.get(id)),
    piece,

    /** Moves all rows of a project from their tables into its parcel, in one write. */
    async pack({ id, project, from, to, actor, most_bytes }: PackOptions): Promise<Move> {
      failpoint?.("before_move.packed");
      await db.write(() => {
        const known = nameOf.get(project) ?? throwNotFound(); // It was deleted meanwhile.
        const { name } = known;
        audit.note({ actor, project_id: project }, "project.moved", project, { name, from, to });
        // Later than all ids that this cell has created.
        insert.run(id, project, name, to, "out", timeOf(newId("move", now())));
        let position = 0;
        exportProject(sqlite, project, (piece) => insertPiece.run(id, position++, piece), most_bytes);
        removeProject(sqlite, project);
        // A second entry for the server, because the project takes its own entries along.
        audit.note({ actor }, "project.moved", project, { name, from, to });
      });
      failpoint?.("after_move.packed");
      return requireValue(byId.get(id), id);
    },

    /** Puts a project back into its tables; it stays in this cell. */
    async undo({ id, project, name, cell }: Move, actor: Actor, why: string): Promise<void> {
      failpoint?.("before_move.undone");
      await db.write(() => {
        importProject(sqlite, all(id));
        audit.note({ actor, project_id: project }, "project.move_undone", project, { name, to: cell, why });
        deleteMove.run(id);
      });
      failpoint?.("after_move.undone");
    },

    /** Deletes the parcel in small writes, once the other cell has the project. */
    async clear({ id }: Move): Promise<void> {
      failpoint?.("before_move.cleared");
      while ((await db.write(() => deletePieces.run(id).changes)) > 0) failpoint?.("mid_move.cleared");
      await db.write(() => setGone.run(id));
      failpoint?.("after_move.cleared");
    },

    /** Inserts a project from another cell, in one write. A repeated call is a no-op. */
    async bringIn({ id, project, name, cell, at_ms }: Omit<Move, "state">, parcel: () => Iterable<Uint8Array>) {
      failpoint?.("before_move.in");
      await db.write(() => {
        if (byId.get(id)) return;
        newId("move", at_ms); // Makes ids created here sort after the imported ones, whatever the clock says.
        insert.run(id, project, name, cell, "in", at_ms);
        importProject(sqlite, parcel());
        failpoint?.("mid_move.in");
      });
      failpoint?.("after_move.in");
    },
  };

  function* all(id: string): Generator<Uint8Array> {
    for (let position = 0, last = onlyRow(size.get(id)).pieces; position < last; position++) yield piece(id, position);
  }
}

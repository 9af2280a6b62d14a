import { newId, timeOf } from "../core/ids.ts";
import { missing } from "../core/not-found.ts";
import type { Actor, StoreBase } from "../db/audit.ts";
import type { projectMoves } from "../db/schema.ts";
import { failpoint } from "../lib/failpoint.ts";
import { packProject, removeProject, unpackProject } from "./parcel.ts";

/** A project's way out of this cell, or into it. */
export type Move = typeof projectMoves.$inferSelect;

/** Compressed, as it is kept and sent. */
export interface ParcelSize {
  pieces: number;
  bytes: number;
}

interface PackOptions {
  id: string;
  project: string;
  /** This cell, and the one that it goes to. */
  from: string;
  to: string;
  actor: Actor;
  /** What is larger is refused. */
  most_bytes: number;
}

export type MoveStore = ReturnType<typeof createMoveStore>;

const piecesPerWrite = 8;

/**
 * What a cell knows of projects that leave it or come to it. A project is, after every commit, in one of three places: in the
 * tables of the cell that it leaves, in that cell's parcel, or in the tables of the other cell.
 */
export function createMoveStore({ db, audit, now = Date.now }: StoreBase) {
  const { sqlite } = db;
  const columns = "id, project, name, cell, state, at_ms";
  const byId = sqlite.query<Move, [string]>(`SELECT ${columns} FROM project_moves WHERE id = ?`);
  const out = sqlite.query<Move, []>(`SELECT ${columns} FROM project_moves WHERE state = 'out' ORDER BY id`);
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

  const piece = (id: string, position: number): Uint8Array => selectPiece.get(id, position)!.content;

  return {
    find: (id: string): Move | null => byId.get(id),
    /** Those that have left their tables and not yet this cell. */
    out: (): Move[] => out.all(),
    /** Whether a project has come in by this move. */
    isIn: (id: string): boolean => byId.get(id)?.state === "in",
    size: (id: string): ParcelSize => size.get(id)!,
    piece,

    /** Takes all rows of a project out of their tables and puts them into its parcel, in one write. */
    async pack({ id, project, from, to, actor, most_bytes }: PackOptions): Promise<Move> {
      failpoint?.("before_move.packed");
      await db.write(() => {
        const known = nameOf.get(project) ?? missing(); // It was deleted meanwhile.
        const { name } = known;
        audit.note({ actor, project_id: project }, "project.moved", project, { name, from, to });
        // All ids that this cell has given sort before this one.
        insert.run(id, project, name, to, "out", timeOf(newId("move", now())));
        let position = 0;
        packProject(sqlite, project, (piece) => insertPiece.run(id, position++, piece), most_bytes);
        removeProject(sqlite, project);
        // Of the server and not of the project, which takes its own entries along.
        audit.note({ actor }, "project.moved", project, { name, from, to });
      });
      failpoint?.("after_move.packed");
      return byId.get(id)!;
    },

    /** Puts a project back into its tables: it stays. */
    async undo({ id, project, name, cell }: Move, actor: Actor, why: string): Promise<void> {
      failpoint?.("before_move.undone");
      await db.write(() => {
        unpackProject(sqlite, all(id));
        audit.note({ actor, project_id: project }, "project.move_undone", project, { name, to: cell, why });
        deleteMove.run(id);
      });
      failpoint?.("after_move.undone");
    },

    /** The other cell has it: the parcel goes, in writes so small that nobody waits for them. */
    async clear({ id }: Move): Promise<void> {
      failpoint?.("before_move.cleared");
      while ((await db.write(() => deletePieces.run(id).changes)) > 0) failpoint?.("mid_move.cleared");
      await db.write(() => setGone.run(id));
      failpoint?.("after_move.cleared");
    },

    /** Puts a project into its tables that comes from another cell, in one write. Once: what has come in stays as it is. */
    async bringIn({ id, project, name, cell, at_ms }: Omit<Move, "state">, parcel: () => Iterable<Uint8Array>) {
      failpoint?.("before_move.in");
      await db.write(() => {
        if (byId.get(id)) return;
        newId("move", at_ms); // Ids that are given here sort behind those that came along, whatever the clock says.
        insert.run(id, project, name, cell, "in", at_ms);
        unpackProject(sqlite, parcel());
        failpoint?.("mid_move.in");
      });
      failpoint?.("after_move.in");
    },
  };

  function* all(id: string): Generator<Uint8Array> {
    for (let position = 0, last = size.get(id)!.pieces; position < last; position++) yield piece(id, position);
  }
}

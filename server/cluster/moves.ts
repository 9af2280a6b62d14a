import type { SQL } from "bun";

/**
 * A project on its way from one cell to another, as the engine has it. `taken`: the other cell has all of it and brings it
 * in, or says that it cannot. Only then may that cell alone decide; before, the first one may still let it stay.
 */
export interface MoveStatus {
  id: string;
  project: string;
  name: string;
  source: string;
  target: string;
  state: "waiting" | "offered" | "taken" | "refused" | "undone";
}

/** The leader of a cell, while it is that. */
interface Leader {
  cell: string;
  epoch: number;
}

const led = (cell: string, epoch: string): string =>
  `EXISTS (SELECT 1 FROM runnel_cells WHERE id = ${cell} AND epoch = ${epoch})`;

/** All that are under way. */
export const readMoves = (sql: SQL): Promise<MoveStatus[]> =>
  sql.unsafe("SELECT id, project, name, source, target, state FROM runnel_moves ORDER BY id");

/** Its runs come to the end of their steps. */
export async function noteMove(sql: SQL, by: Leader, move: Omit<MoveStatus, "source" | "state">): Promise<void> {
  const { id, project, name, target } = move;
  await sql.unsafe(
    `INSERT INTO runnel_moves (id, project, name, source, target, state, epoch)
     SELECT $1, $2, $3, $4, $5, 'waiting', 0 WHERE ${led("$4", "$6")}`,
    [id, project, name, by.cell, target, by.epoch],
  );
}

/** The project is out of its tables: the other cell may take it. */
export async function offerMove(sql: SQL, by: Leader, move: Omit<MoveStatus, "source" | "state">): Promise<void> {
  const { id, project, name, target } = move;
  await sql.unsafe(
    `INSERT INTO runnel_moves (id, project, name, source, target, state, epoch)
     SELECT $1, $2, $3, $4, $5, 'offered', 0 WHERE ${led("$4", "$6")}
     ON CONFLICT (id) DO UPDATE SET state = 'offered' WHERE runnel_moves.state = 'waiting'`,
    [id, project, name, by.cell, target, by.epoch],
  );
}

const isOne = (rows: readonly unknown[]): boolean => rows.length === 1;

/** Whether the cell that it goes to may bring it in: from here on the first one may not let it stay. */
export const takeMove = async (sql: SQL, id: string, { cell, epoch }: Leader): Promise<boolean> =>
  isOne(
    await sql.unsafe(
      `UPDATE runnel_moves SET state = 'taken', epoch = $3
       WHERE id = $1 AND target = $2 AND state IN ('offered', 'taken') AND ${led("$2", "$3")} RETURNING id`,
      [id, cell, epoch],
    ),
  );

/** The cell that it goes to has taken it and cannot bring it in. */
export async function refuseMove(sql: SQL, id: string, { cell, epoch }: Leader): Promise<void> {
  await sql.unsafe(
    `UPDATE runnel_moves SET state = 'refused'
     WHERE id = $1 AND target = $2 AND state = 'taken' AND epoch = $3 AND ${led("$2", "$3")}`,
    [id, cell, epoch],
  );
}

/** Whether the project stays in its cell: from here on the other one may not bring it in. */
export const undoMove = async (sql: SQL, id: string, { cell, epoch }: Leader): Promise<boolean> =>
  isOne(
    await sql.unsafe(
      `UPDATE runnel_moves SET state = 'undone'
       WHERE id = $1 AND source = $2 AND state <> 'taken' AND ${led("$2", "$3")} RETURNING id`,
      [id, cell, epoch],
    ),
  );

/** Nothing of these is under way any more: all of a cell but those that it names. */
export async function forgetMoves(sql: SQL, { cell, epoch }: Leader, but: readonly string[]): Promise<void> {
  await sql.unsafe(
    `DELETE FROM runnel_moves WHERE source = $1 AND ${led("$1", "$2")}
       AND id NOT IN (SELECT jsonb_array_elements_text($3::text::jsonb))`,
    [cell, epoch, JSON.stringify(but)],
  );
}

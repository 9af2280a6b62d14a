import type { SQL } from "bun";

/**
 * A project in transfer from one cell to another, as stored in Postgres. `taken`: the target has all of its data, and
 * imports or refuses it; only the target may decide then. Before that, the source may still undo the transfer.
 */
export interface MoveStatus {
  id: string;
  project: string;
  name: string;
  source: string;
  target: string;
  state: "waiting" | "offered" | "taken" | "refused" | "undone";
}

/** The leader of a cell, with its epoch. */
interface Leader {
  cell: string;
  epoch: number;
}

const leadsSql = (cell: string, epoch: string): string =>
  `EXISTS (SELECT 1 FROM runnel_cells WHERE id = ${cell} AND epoch = ${epoch})`;

/** Returns all transfers in progress. */
export const readMoves = (sql: SQL): Promise<MoveStatus[]> =>
  sql.unsafe("SELECT id, project, name, source, target, state FROM runnel_moves ORDER BY id");

/** Records a transfer whose runs are still finishing their steps. */
export async function noteMove(sql: SQL, by: Leader, move: Omit<MoveStatus, "source" | "state">): Promise<void> {
  const { id, project, name, target } = move;
  await sql.unsafe(
    `INSERT INTO runnel_moves (id, project, name, source, target, state, epoch)
     SELECT $1, $2, $3, $4, $5, 'waiting', 0 WHERE ${leadsSql("$4", "$6")}`,
    [id, project, name, by.cell, target, by.epoch],
  );
}

/** Offers the exported project to the target cell. */
export async function offerMove(sql: SQL, by: Leader, move: Omit<MoveStatus, "source" | "state">): Promise<void> {
  const { id, project, name, target } = move;
  await sql.unsafe(
    `INSERT INTO runnel_moves (id, project, name, source, target, state, epoch)
     SELECT $1, $2, $3, $4, $5, 'offered', 0 WHERE ${leadsSql("$4", "$6")}
     ON CONFLICT (id) DO UPDATE SET state = 'offered' WHERE runnel_moves.state = 'waiting'`,
    [id, project, name, by.cell, target, by.epoch],
  );
}

const isOne = (rows: readonly unknown[]): boolean => rows.length === 1;

/** True if the target cell may import the project: from then on the source may not undo the transfer. */
export const takeMove = async (sql: SQL, id: string, { cell, epoch }: Leader): Promise<boolean> =>
  isOne(
    await sql.unsafe(
      `UPDATE runnel_moves SET state = 'taken', epoch = $3
       WHERE id = $1 AND target = $2 AND state IN ('offered', 'taken') AND ${leadsSql("$2", "$3")} RETURNING id`,
      [id, cell, epoch],
    ),
  );

/** Records that the target cell has taken the project but cannot import it. */
export async function refuseMove(sql: SQL, id: string, { cell, epoch }: Leader): Promise<void> {
  await sql.unsafe(
    `UPDATE runnel_moves SET state = 'refused'
     WHERE id = $1 AND target = $2 AND state = 'taken' AND epoch = $3 AND ${leadsSql("$2", "$3")}`,
    [id, cell, epoch],
  );
}

/** True if the project stays in its cell: from then on the target may not import it. */
export const undoMove = async (sql: SQL, id: string, { cell, epoch }: Leader): Promise<boolean> =>
  isOne(
    await sql.unsafe(
      `UPDATE runnel_moves SET state = 'undone'
       WHERE id = $1 AND source = $2 AND state <> 'taken' AND ${leadsSql("$2", "$3")} RETURNING id`,
      [id, cell, epoch],
    ),
  );

/** Deletes the finished transfers of a cell: all except the given ones. */
export async function forgetMoves(sql: SQL, { cell, epoch }: Leader, exceptIds: readonly string[]): Promise<void> {
  await sql.unsafe(
    `DELETE FROM runnel_moves WHERE source = $1 AND ${leadsSql("$1", "$2")}
       AND id NOT IN (SELECT jsonb_array_elements_text($3::text::jsonb))`,
    [cell, epoch, JSON.stringify(exceptIds)],
  );
}

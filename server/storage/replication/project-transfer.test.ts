import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { type Postgres, startPostgres } from "../../testing/postgres.ts";
import { openDatabase } from "../db/open.ts";
import { claim } from "./lease.ts";
import { forgetMoves, noteMove, offerMove, readMoves, refuseMove, takeMove, undoMove } from "./project-transfer.ts";
import { reconcileRoutes, routesText, watchRoutes, writingRoutes } from "./routes.ts";
import { makeTables } from "./tables.ts";

describe.if(startPostgres.orSkipped("moves between cells"))("a project that moves to another cell", () => {
  let postgres: Postgres;
  let sql: SQL;
  beforeAll(async () => {
    postgres = await startPostgres();
    sql = new SQL({ url: postgres.url, max: 1, bigint: true });
    await makeTables(sql);
  }, 60_000);
  afterAll(async () => {
    await sql?.close({ timeout: 0 });
    await postgres?.[Symbol.asyncDispose]();
  });

  let cells = 0;
  async function led(cell: string, ttl_ms = 60_000) {
    const of = { address: "", certificate: "", master_key_id: "key", version: 1 };
    const won = await claim(sql, { cell, name: cell, ttl_ms, ...of });
    return { cell, epoch: won!.epoch };
  }

  /** Creates two cells with leaders, and a move between them. */
  async function cellsAndMove() {
    const n = ++cells;
    const [main, east] = [await led(`main-${n}`), await led(`east-${n}`)];
    const move = { id: `mov_${n}`, project: `proj_${n}`, name: "shop", target: east.cell };
    const state = async () => (await readMoves(sql)).find(({ id }) => id === move.id)?.state;
    /** Lets another node take a cell. */
    async function takenOver({ cell }: { cell: string }) {
      await sql.unsafe("UPDATE runnel_cells SET lease_until = '-infinity' WHERE id = $1", [cell]);
      return await led(cell);
    }
    return { main, east, move, state, takenOver };
  }

  test("may be cancelled until the other cell takes it, and not after", async () => {
    const { main, east, move, state } = await cellsAndMove();
    await noteMove(sql, main, move);
    expect(await takeMove(sql, move.id, east)).toBe(false); // It is not offered yet.
    await offerMove(sql, main, move);
    expect([await state(), await takeMove(sql, move.id, east), await state()]).toEqual(["offered", true, "taken"]);
    expect(await undoMove(sql, move.id, main)).toBe(false);
    await offerMove(sql, main, move); // Again, by the leader that continues the move.
    expect([await state(), await takeMove(sql, move.id, east)]).toEqual(["taken", true]);
    await forgetMoves(sql, main, []);
    expect(await state()).toBeUndefined();
  });

  test("is not taken after it was cancelled, and returns if the other cell refuses it", async () => {
    const { main, east, move, state } = await cellsAndMove();
    await offerMove(sql, main, move);
    expect([await undoMove(sql, move.id, main), await takeMove(sql, move.id, east)]).toEqual([true, false]);
    expect([await undoMove(sql, move.id, main), await state()]).toEqual([true, "undone"]);

    const other = await cellsAndMove();
    await offerMove(sql, other.main, other.move);
    await takeMove(sql, other.move.id, other.east);
    await refuseMove(sql, other.move.id, other.east);
    expect([await other.state(), await takeMove(sql, other.move.id, other.east)]).toEqual(["refused", false]);
    expect(await undoMove(sql, other.move.id, other.main)).toBe(true);
  });

  test("is decided by leaders alone: a former leader's late decision changes nothing", async () => {
    const { main, east, move, state, takenOver } = await cellsAndMove();
    const nextMain = await takenOver(main);
    for (const say of [noteMove, offerMove]) await say(sql, main, move);
    expect(await state()).toBeUndefined();
    await offerMove(sql, nextMain, move);
    expect(await undoMove(sql, move.id, main)).toBe(false);
    expect(await takeMove(sql, move.id, east)).toBe(true);
    const nextEast = await takenOver(east);
    expect(await takeMove(sql, move.id, east)).toBe(false);
    await takeMove(sql, move.id, nextEast);
    await refuseMove(sql, move.id, east); // The next leader may have imported the project.
    expect(await state()).toBe("taken");
    await forgetMoves(sql, main, []);
    expect(await state()).toBe("taken");
    await forgetMoves(sql, nextMain, [move.id]);
    expect(await state()).toBe("taken");
  });

  test("changes the cell of its routes with its rows, and keeps them during the move", async () => {
    const { main, east, move } = await cellsAndMove();
    const ship = (cell: string, text: string) =>
      sql.unsafe(
        `WITH mine AS (SELECT id FROM runnel_cells WHERE id = $1), ${writingRoutes("$2")} SELECT id FROM mine`,
        [cell, text],
      );
    const cellOf = async () => {
      const [row] = await sql`SELECT cell, name FROM runnel_projects WHERE id = ${move.project}`;
      return `${row.cell} ${row.name}`;
    };
    const [from, to] = [openDatabase(":memory:"), openDatabase(":memory:")];
    const [here, there] = [watchRoutes(from.sqlite), watchRoutes(to.sqlite)];
    const insert = "INSERT INTO projects (id, name, created_at_ms) VALUES (?, 'shop', 0)";
    const note = "INSERT INTO project_moves (id, project, name, cell, state, at_ms) VALUES (?, ?, 'shop', ?, ?, 0)";
    await from.write(() => from.sqlite.query(insert).run(move.project));
    await ship(main.cell, routesText(here.take()!));
    // Another cell's row stays unless it has come from there.
    await ship(
      east.cell,
      routesText({ projects: new Map([[move.project, { name: "x", is_open: true }]]), names: new Map() }),
    );
    expect(await cellOf()).toBe(`${main.cell} shop`);
    await from.write(() => {
      from.sqlite.query(note).run(move.id, move.project, east.cell, "out");
      from.sqlite.run("DELETE FROM projects");
    });
    expect(here.take()).toBeNull();
    await reconcileRoutes(sql, main.cell, main.epoch, here.all(), here.leaving());
    expect(await cellOf()).toBe(`${main.cell} shop`);
    await to.write(() => {
      to.sqlite.query(note).run(move.id, move.project, main.cell, "in");
      to.sqlite.query(insert).run(move.project);
    });
    await ship(east.cell, routesText(there.take()!));
    expect(await cellOf()).toBe(`${east.cell} shop`);
    await reconcileRoutes(sql, main.cell, main.epoch, here.all(), here.leaving());
    expect(await cellOf()).toBe(`${east.cell} shop`);
    for (const db of [from, to]) db.close();
  });
});

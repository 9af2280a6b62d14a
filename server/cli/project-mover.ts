import type { App } from "../app.ts";
import type { NodeSeal } from "../cluster/between-nodes.ts";
import type { Directory } from "../cluster/directory.ts";
import { forgetMoves, type MoveStatus, noteMove, offerMove, undoMove } from "../cluster/moves.ts";
import type { Shipper } from "../cluster/shipper.ts";
import { newId } from "../core/ids.ts";
import { type Actor, itself } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Log } from "../lib/log.ts";
import type { Move, MoveStore, ParcelSize } from "../projects/moves.ts";
import { TooLarge } from "../projects/parcel.ts";
import type { Project } from "../projects/store.ts";
import { CliError } from "./exit-code.ts";
import { type Arrival, movesPath, type Standing, tellLeader } from "./move-messages.ts";

interface MoverOptions {
  cells: readonly string[];
  own: string;
  epoch: number;
  /** Of this database: how many migrations it knows. */
  version: number;
  db: Db;
  seal: NodeSeal;
  directory: Pick<Directory, "ask" | "findLeaderOf" | "projects" | "forget">;
  ship: Pick<Shipper, "longer">;
  moves: MoveStore;
  moving: App["moving"];
  log: Log;
}

export type ProjectMover = ReturnType<typeof createProjectMover>;

/** What is more is refused: both cells stand still while it is taken out of tables, and put into them. */
const most_bytes = 500_000_000;
const look_ms = 50;
/** So long requests that are under way have to come to their end. */
const lastRequests_ms = 5000;
/** So long a cell may not answer before the project stays where it is. */
const patience_ms = 30_000;
const again_ms = 500;

/** Moves projects of this cell to other cells. */
export function createProjectMover(options: MoverOptions) {
  const { cells, own, epoch, version, db, seal, directory, ship, moves, moving, log } = options;
  const leader = { cell: own, epoch };
  /** Projects that are being moved. */
  const underWay = new Set<string>();
  /** Of these, the projects for which requests wait. */
  const closed = new Map<string, PromiseWithResolvers<void>>();
  /** Requests that are being answered, by their project. */
  const inFlight = new Map<string, number>();
  let isStopped = false;

  function requireMovable({ id, name }: Project, to: string): void {
    if (!cells.includes(to)) throw new CliError(`There is no cell "${to}". This cluster has ${cells.join(", ")}.`);
    if (to === own) throw new CliError(`${name} is in the cell "${to}" already.`);
    if (underWay.has(id)) throw new CliError(`${name} is being moved already.`);
  }

  /** Settles once the project is in the other cell. Throws `CliError` where it stays in this one. */
  async function move(project: Project, to: string, within_ms: number, actor: Actor): Promise<void> {
    requireMovable(project, to);
    const { id: projectId, name } = project;
    if (fileBytes(projectId) > most_bytes)
      throw new CliError(`${name} is too large to be moved. Its files have more than ${most_bytes / 1e6} MB.`);
    underWay.add(projectId);
    const noted = { id: newId("move"), project: projectId, name, target: to };
    try {
      if (!(await directory.findLeaderOf(to))) throw new CliError(`Nobody leads the cell "${to}" at the moment.`);
      if ((await directory.projects()).some((other) => other.cell === to && other.name === name))
        throw new CliError(`The cell "${to}" has a project "${name}" already.`);
      await directory.ask((sql) => noteMove(sql, leader, noted));
      moving.park(projectId);
      await untilAtRest(project, within_ms);
      const packed = await takeOut(noted, actor);
      await deliver(packed);
    } catch (error) {
      if (moves.find(noted.id)?.state !== "out") await stay(projectId);
      throw error;
    } finally {
      underWay.delete(projectId);
    }
  }

  async function untilAtRest({ id, name }: Project, within_ms: number): Promise<void> {
    for (const until = performance.now() + within_ms; moving.underWay(id) > 0; await Bun.sleep(look_ms))
      if (performance.now() > until)
        throw new CliError(
          `${name} stays: after ${Math.round(within_ms / 1000)} s runs are still in a step (${moving.underWay(id)}). --within gives them longer.`,
        );
  }

  /** From here on requests wait. */
  async function takeOut(noted: Omit<MoveStatus, "source" | "state">, actor: Actor): Promise<Move> {
    const { id, project, target: to } = noted;
    close(project);
    moving.end(project);
    for (const until = performance.now() + lastRequests_ms; inFlight.has(project); await Bun.sleep(look_ms))
      if (performance.now() > until) break;
    const left = moving.leave(project);
    const pack = () => moves.pack({ id, project, from: own, to, actor, most_bytes });
    const packed = await ship.longer(workOf(project), pack).catch((error) => {
      throw error instanceof TooLarge
        ? new CliError(`${noted.name} is too large to be moved. ${error.message}`)
        : error;
    });
    left();
    return packed;
  }

  /** How long it may take to take a project out of its tables, in ms: more than was ever measured. */
  function workOf(project: string): number {
    const counted = db.sqlite.query<{ n: number }, [string]>(
      `SELECT coalesce(sum(seq), 0) / 20 + count(*) AS n FROM runs WHERE project_id = ?`,
    );
    return Math.round(1000 + counted.get(project)!.n + fileBytes(project) / 20_000);
  }

  const fileBytes = (project: string): number =>
    db.sqlite
      .query<{ n: number }, [string]>("SELECT coalesce(sum(bytes), 0) AS n FROM file_blobs WHERE project_id = ?")
      .get(project)!.n;

  /** Goes on until the project is in the other cell, or back in this one; then `CliError` says why. */
  async function deliver(move: Move): Promise<void> {
    const { id, project, name, cell: target } = move;
    close(project);
    const until = performance.now() + patience_ms;
    for (; !isStopped; await Bun.sleep(again_ms))
      try {
        await directory.ask((sql) => offerMove(sql, leader, { id, project, name, target }));
        const standing = await hand(move);
        if (standing.is === "in") return await finish(move);
        await callOff(move, standing.is === "refused" ? standing.why : "");
      } catch (error) {
        if (error instanceof CliError) throw error;
        log.warn("a project waits to be moved", { project, to: target, error });
        if (performance.now() < until) continue;
        await callOff(move, `The cell "${target}" does not answer: ${(error as Error).message}`).catch((refusal) => {
          if (refusal instanceof CliError) throw refusal;
        });
      }
    throw new CliError(`The server stops. ${name} is moved on with its next start.`);
  }

  /** Asks first: what was cleared in part may not be sent again. */
  async function hand(move: Move): Promise<Standing> {
    const { id, project, name, cell, at_ms } = move;
    const tell = (body: Uint8Array | string, tail = "") =>
      tellLeader({ seal, directory }, cell, `${movesPath}${cell}/${id}${tail}`, body);
    const known = (await (await tell("")).json()) as Standing;
    if (known.is === "in") return known;
    const size = moves.size(id);
    const { pieces } = size;
    for (let position = 0; position < pieces; position++) await tell(moves.piece(id, position), `/${position}`);
    failpoint?.("mid_move.sent");
    const arrival: Arrival = { project, name, from: own, at_ms, pieces, version, work_ms: unpacking_ms(size) };
    return (await (await tell(JSON.stringify(arrival))).json()) as Standing;
  }

  async function finish(move: Move): Promise<void> {
    await moves.clear(move);
    log.info("a project has gone to another cell", { project: move.project, to: move.cell });
    directory.forget(move.project);
    moving.renew(move.project);
    open(move.project);
    await tidy();
  }

  /** Throws `CliError` once it is back. Where the other cell has taken it, that one alone may say what becomes of it. */
  async function callOff(move: Move, why: string): Promise<void> {
    const { id, project, name } = move;
    if (!(await directory.ask((sql) => undoMove(sql, id, leader)))) return;
    await ship.longer(unpacking_ms(moves.size(id)), () => moves.undo(move, itself, why));
    await moving
      .arrived()
      .catch((error) => log.error("what came back with a project waits for the next start", { project, error }));
    await stay(project);
    throw new CliError(`${name} stays. ${why}`);
  }

  async function stay(project: string): Promise<void> {
    moving.renew(project);
    moving.stay(project);
    open(project);
    await tidy();
  }

  /** What the engine tells of moves of this cell, without those that are over. */
  async function tidy(): Promise<void> {
    const out = moves.out().map(({ id }) => id);
    await directory
      .ask((sql) => forgetMoves(sql, leader, out))
      .catch((error) => log.warn("a move that is over is still shown", { error }));
  }

  function close(project: string): void {
    if (closed.has(project)) return;
    closed.set(project, Promise.withResolvers());
    directory.forget(project); // From here on its names are not found in this cell, and have to be asked for.
  }

  function open(project: string): void {
    closed.get(project)?.resolve();
    closed.delete(project);
  }

  return {
    move,
    /** Goes on with what an earlier process left. */
    async resume(): Promise<void> {
      await tidy();
      for (const left of moves.out()) {
        underWay.add(left.project);
        close(left.project);
        void deliver(left)
          .catch((error) => log.warn("a project was not moved", { project: left.project, error }))
          .finally(() => underWay.delete(left.project));
      }
    },
    /** Settles when the project is in one of the cells again; null for one that requests need not wait for. */
    over: (project: string): Promise<void> | null => closed.get(project)?.promise ?? null,
    /** A request of this project is being answered, until the answer is called. */
    enter(project: string): () => void {
      inFlight.set(project, (inFlight.get(project) ?? 0) + 1);
      return () => {
        const left = inFlight.get(project)! - 1;
        if (left > 0) inFlight.set(project, left);
        else inFlight.delete(project);
      };
    },
    stop(): void {
      isStopped = true;
    },
  };
}

/** How long it may take to put a parcel into tables: more than was ever measured. */
const unpacking_ms = ({ pieces, bytes }: ParcelSize): number => 2000 + pieces * 200 + Math.round(bytes / 1000);

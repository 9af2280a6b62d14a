import type { App } from "../../app.ts";
import { newId } from "../../domain/ids.ts";
import { entryOf } from "../../lib/collections.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { Move, MoveStore, ParcelSize } from "../../resources/projects/moves.ts";
import { TooLarge } from "../../resources/projects/project-archive.ts";
import type { Project } from "../../resources/projects/store.ts";
import { type Actor, itself } from "../../storage/db/audit.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Directory } from "../../storage/replication/directory.ts";
import type { NodeSeal } from "../../storage/replication/node-auth.ts";
import {
  forgetMoves,
  type MoveStatus,
  noteMove,
  offerMove,
  undoMove,
} from "../../storage/replication/project-transfer.ts";
import type { Shipper } from "../../storage/replication/shipper.ts";
import { CliError } from "../commands/exit-code.ts";
import { type Arrival, type ImportState, movesPath, tellLeader } from "./move-messages.ts";

interface MoverOptions {
  cells: readonly string[];
  own: string;
  epoch: number;
  /** Version of this database: number of migrations. */
  version: number;
  db: Db;
  seal: NodeSeal;
  directory: Pick<Directory, "ask" | "findLeaderOf" | "projects" | "forget">;
  ship: Pick<Shipper, "withLongLease">;
  moves: MoveStore;
  moving: App["moving"];
  log: Log;
}

export type ProjectMover = ReturnType<typeof createProjectMover>;

/** Maximum size of a project's files: both cells are blocked while its rows are exported and imported. */
const most_bytes = 500_000_000;
const look_ms = 50;
/** Time for requests in flight to finish. */
const lastRequests_ms = 5000;
/** Silence of the target cell after which the project stays. */
const patience_ms = 30_000;
const again_ms = 500;

/** Moves projects of this cell to other cells. */
export function createProjectMover(options: MoverOptions) {
  const { cells, own, epoch, version, db, seal, directory, ship, moves, moving, log } = options;
  const leader = { cell: own, epoch };
  /** Projects in transfer. */
  const underWay = new Set<string>();
  /** Projects in transfer whose requests wait. */
  const closed = new Map<string, PromiseWithResolvers<void>>();
  /** Number of requests in flight by project. */
  const inFlight = new Map<string, number>();
  let isStopped = false;

  function requireMovable({ id, name }: Project, to: string): void {
    if (!cells.includes(to)) throw new CliError(`There is no cell "${to}". This cluster has ${cells.join(", ")}.`);
    if (to === own) throw new CliError(`${name} is in the cell "${to}" already.`);
    if (underWay.has(id)) throw new CliError(`${name} is being moved already.`);
  }

  /** Resolves once the project is in the other cell. Throws `CliError` if it stays in this one. */
  async function move(project: Project, to: string, within_ms: number, actor: Actor): Promise<void> {
    requireMovable(project, to);
    const { id: projectId, name } = project;
    if (fileBytes(projectId) > most_bytes)
      throw new CliError(`${name} is too large to be moved. Its files have more than ${most_bytes / 1e6} MB.`);
    underWay.add(projectId);
    const moveRow = { id: newId("move"), project: projectId, name, target: to };
    try {
      if (!(await directory.findLeaderOf(to))) throw new CliError(`No node leads the cell "${to}" at the moment.`);
      if ((await directory.projects()).some((other) => other.cell === to && other.name === name))
        throw new CliError(`The cell "${to}" has a project "${name}" already.`);
      await directory.ask((sql) => noteMove(sql, leader, moveRow));
      moving.park(projectId);
      await untilAtRest(project, within_ms);
      const packed = await takeOut(moveRow, actor);
      await deliver(packed);
    } catch (error) {
      if (moves.find(moveRow.id)?.state !== "out") await stay(projectId);
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

  /** Exports the project. Its requests wait from here on. */
  async function takeOut(noted: Omit<MoveStatus, "source" | "state">, actor: Actor): Promise<Move> {
    const { id, project, target: to } = noted;
    close(project);
    moving.end(project);
    for (const until = performance.now() + lastRequests_ms; inFlight.has(project); await Bun.sleep(look_ms))
      if (performance.now() > until) break;
    await moving.depart(project);
    const finishLeaving = moving.leave(project);
    const pack = () => moves.pack({ id, project, from: own, to, actor, most_bytes });
    const packed = await ship.withLongLease(workOf(project), pack).catch((error) => {
      throw error instanceof TooLarge
        ? new CliError(`${noted.name} is too large to be moved. ${error.message}`)
        : error;
    });
    finishLeaving();
    return packed;
  }

  /** Returns the maximum duration of an export in ms: more than was ever measured. */
  function workOf(project: string): number {
    const countEvents = db.sqlite.query<{ n: number }, [string]>(
      `SELECT coalesce(sum(seq), 0) / 20 + count(*) AS n FROM runs WHERE project_id = ?`,
    );
    return Math.round(1000 + onlyRow(countEvents.get(project)).n + fileBytes(project) / 20_000);
  }

  const fileBytes = (project: string): number =>
    onlyRow(
      db.sqlite
        .query<{ n: number }, [string]>("SELECT coalesce(sum(bytes), 0) AS n FROM file_blobs WHERE project_id = ?")
        .get(project),
    ).n;

  /** Retries until the project is in the other cell. Throws `CliError` with the reason once it is back in this one. */
  async function deliver(move: Move): Promise<void> {
    const { id, project, name, cell: target } = move;
    close(project);
    const until = performance.now() + patience_ms;
    for (; !isStopped; await Bun.sleep(again_ms))
      try {
        await directory.ask((sql) => offerMove(sql, leader, { id, project, name, target }));
        const importState = await sendTo(move);
        if (importState.is === "in") return await finish(move);
        await callOff(move, importState.is === "refused" ? importState.why : "");
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

  /** Sends the project. Asks for the state first, because a partly cleared export must not be sent again. */
  async function sendTo(move: Move): Promise<ImportState> {
    const { id, project, name, cell, at_ms } = move;
    const post = (body: Uint8Array | string, tail = "") =>
      tellLeader({ seal, directory }, cell, `${movesPath}${cell}/${id}${tail}`, body);
    const known = (await (await post("")).json()) as ImportState;
    if (known.is === "in") return known;
    const size = moves.size(id);
    const { pieces } = size;
    for (let position = 0; position < pieces; position++) await post(moves.piece(id, position), `/${position}`);
    failpoint?.("mid_move.sent");
    const arrival: Arrival = { project, name, from: own, at_ms, pieces, version, work_ms: unpacking_ms(size) };
    return (await (await post(JSON.stringify(arrival))).json()) as ImportState;
  }

  async function finish(move: Move): Promise<void> {
    await moves.clear(move);
    log.info("a project has gone to another cell", { project: move.project, to: move.cell });
    directory.forget(move.project);
    moving.renew(move.project);
    open(move.project);
    await tidy();
  }

  /**
   * Undoes the transfer and throws `CliError`. Returns if the target has taken the project: then only the target may
   * decide.
   */
  async function callOff(move: Move, why: string): Promise<void> {
    const { id, project, name } = move;
    if (!(await directory.ask((sql) => undoMove(sql, id, leader)))) return;
    await ship.withLongLease(unpacking_ms(moves.size(id)), () => moves.undo(move, itself, why));
    await moving
      .onProjectArrived()
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

  /** Deletes finished transfers of this cell in Postgres. */
  async function tidy(): Promise<void> {
    const outgoingIds = moves.out().map(({ id }) => id);
    await directory
      .ask((sql) => forgetMoves(sql, leader, outgoingIds))
      .catch((error) => log.warn("a move that is over is still shown", { error }));
  }

  function close(project: string): void {
    if (closed.has(project)) return;
    closed.set(project, Promise.withResolvers());
    directory.forget(project); // Its names are now unknown in this cell and must be looked up.
  }

  function open(project: string): void {
    closed.get(project)?.resolve();
    closed.delete(project);
  }

  return {
    move,
    /** Resumes the transfers that an earlier process left. */
    async resume(): Promise<void> {
      await tidy();
      for (const outgoing of moves.out()) {
        underWay.add(outgoing.project);
        close(outgoing.project);
        void deliver(outgoing)
          .catch((error) => log.warn("a project was not moved", { project: outgoing.project, error }))
          .finally(() => underWay.delete(outgoing.project));
      }
    },
    /** Resolves when the transfer is over; null if requests of the project need not wait. */
    over: (project: string): Promise<void> | null => closed.get(project)?.promise ?? null,
    /** Counts a request of this project as in flight, until the returned function is called. */
    enter(project: string): () => void {
      inFlight.set(project, (inFlight.get(project) ?? 0) + 1);
      return () => {
        const remaining = entryOf(inFlight, project) - 1;
        if (remaining > 0) inFlight.set(project, remaining);
        else inFlight.delete(project);
      };
    },
    stop(): void {
      isStopped = true;
    },
  };
}

/** Returns the maximum duration of an import in ms: more than was ever measured. */
const unpacking_ms = ({ pieces, bytes }: ParcelSize): number => 2000 + pieces * 200 + Math.round(bytes / 1000);

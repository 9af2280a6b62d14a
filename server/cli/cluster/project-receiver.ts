import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { noSuch } from "../../domain/error-messages.ts";
import { isId } from "../../domain/ids.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { MoveStore } from "../../resources/projects/moves.ts";
import type { Directory } from "../../storage/replication/directory.ts";
import { type NodeSeal, pathOf } from "../../storage/replication/node-auth.ts";
import { refuseMove, takeMove } from "../../storage/replication/project-transfer.ts";
import type { Shipper } from "../../storage/replication/shipper.ts";
import { readCommand, unsigned } from "../../storage/replication/signed-commands.ts";
import { type Arrival, type ImportState, movesPath } from "./move-messages.ts";

interface ReceiverOptions {
  own: string;
  epoch: number;
  /** Version of this database: number of migrations. */
  version: number;
  seal: NodeSeal;
  directory: Directory;
  ship: Pick<Shipper, "withLongLease">;
  moves: MoveStore;
  /** Called after a project was imported. */
  arrived(): Promise<void>;
  /** Folder for pieces until all have arrived. */
  folder: string;
  log: Log;
}

/** Imports projects from other cells. Returns null for any other request. */
export function createProjectReceiver(options: ReceiverOptions) {
  const { own, epoch, version, seal, directory, ship, moves, arrived, folder, log } = options;
  const imports = new Map<string, Promise<ImportState>>();
  rmSync(folder, { recursive: true, force: true }); // Left by an earlier process: the source starts over.

  async function importProject(id: string, { pieces, work_ms, from, ...arrival }: Arrival): Promise<ImportState> {
    if (moves.isIn(id)) return { is: "in" };
    if (arrival.version !== version)
      return { is: "refused", why: `The cell "${own}" is led by a node of another version.` };
    const storedPieces = pieceFiles(id);
    if (storedPieces.length !== pieces) throw new Error(`There are ${storedPieces.length} pieces of ${pieces}.`);
    failpoint?.("before_move.taken");
    if (!(await directory.ask((sql) => takeMove(sql, id, { cell: own, epoch }))))
      return { is: "refused", why: "It was called off." };
    failpoint?.("after_move.taken");
    const { project, name, at_ms } = arrival;
    try {
      const parcel = () => readAll(storedPieces);
      await ship.withLongLease(work_ms, () => moves.bringIn({ id, project, name, cell: from, at_ms }, parcel));
    } catch (error) {
      log.warn("a project could not be brought in", { project, from, error });
      await directory.ask((sql) => refuseMove(sql, id, { cell: own, epoch }));
      return { is: "refused", why: reasonOf(error, own, name) };
    }
    log.info("a project has come from another cell", { project, from });
    void arrived().catch((error) => log.error("what came with a project waits for the next start", { project, error }));
    return { is: "in" };
  }

  function pieceFiles(id: string): string[] {
    try {
      const names = readdirSync(join(folder, id)).sort((a, b) => Number(a) - Number(b));
      return names.map((name) => join(folder, id, name));
    } catch {
      return [];
    }
  }

  /** Shares the import among repeated messages. After it, a new message must send all pieces again. */
  function once(id: string, arrival: Arrival): Promise<ImportState> {
    const work =
      imports.get(id) ??
      importProject(id, arrival).finally(() => {
        imports.delete(id);
        rmSync(join(folder, id), { recursive: true, force: true });
      });
    imports.set(id, work);
    return work;
  }

  async function importState(id: string, body: Uint8Array): Promise<ImportState> {
    if (body.length > 0) return await once(id, JSON.parse(new TextDecoder().decode(body)));
    return { is: moves.isIn(id) ? "in" : "none" };
  }

  return async (request: Request): Promise<Response | null> => {
    const path = pathOf(request.url);
    if (!path.startsWith(movesPath) || request.method !== "POST") return null;
    const body = await readCommand(request, seal);
    if (!body) return unsigned();
    const [cell, id = "", position] = path.slice(movesPath.length).split("/");
    // Sent to the node that led the target cell before.
    if (cell !== own) return new Response(`This is the cell "${own}".`, { status: 421 });
    if (!isId("move", id)) return new Response(noSuch("move"), { status: 404 });
    try {
      if (position === undefined) return Response.json(await importState(id, body));
      mkdirSync(join(folder, id), { recursive: true, mode: 0o700 });
      await Bun.write(join(folder, id, String(Number(position))), body);
      return new Response(null, { status: 204 });
    } catch (error) {
      return new Response((error as Error).message, { status: 500 });
    }
  };
}

function* readAll(files: readonly string[]): Generator<Uint8Array> {
  for (const file of files) yield readFileSync(file);
}

const reasonOf = (error: unknown, cell: string, name: string): string =>
  /UNIQUE.*projects\.name/.test(String(error))
    ? `The cell "${cell}" has a project "${name}" already.`
    : `The cell "${cell}" cannot take it: ${(error as Error).message}`;

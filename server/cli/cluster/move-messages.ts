import { direct } from "../../lib/proxy.ts";
import type { Directory } from "../../storage/replication/directory.ts";
import { type NodeSeal, nodeTls } from "../../storage/replication/node-auth.ts";
import { signCommand } from "../../storage/replication/signed-commands.ts";

/** Path for messages between leaders about a project's transfer; the cell and the transfer id follow. */
export const movesPath = "/.runnel/moves/";

/** Last message of a transfer, after all pieces. */
export interface Arrival {
  project: string;
  name: string;
  from: string;
  at_ms: number;
  pieces: number;
  /** Database version: number of migrations. */
  version: number;
  /** Maximum duration of the import in ms. */
  work_ms: number;
}

/** State of the import: done, unknown, or refused with the reason. */
export type ImportState = { is: "in" } | { is: "none" } | { is: "refused"; why: string };

const patience_ms = 120_000;

/** Sends a message about a transfer to the leader of a cell. Throws unless the response is successful. */
export async function tellLeader(
  { seal, directory }: { seal: NodeSeal; directory: Pick<Directory, "findLeaderOf"> },
  cell: string,
  path: string,
  body: Uint8Array | string,
): Promise<Response> {
  const leader = await directory.findLeaderOf(cell);
  if (!leader) throw new Error(`No node leads the cell "${cell}".`);
  const answer = await fetch(`${leader.address}${path}`, {
    method: "POST",
    body,
    headers: signCommand(seal, path, body),
    tls: nodeTls(leader.certificate),
    ...direct,
    signal: AbortSignal.timeout(patience_ms),
  } as RequestInit);
  if (!answer.ok)
    throw new Error(`The cell "${cell}" returns status ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
  return answer;
}

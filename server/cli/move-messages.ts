import { type NodeSeal, nodeTls } from "../cluster/between-nodes.ts";
import type { Directory } from "../cluster/directory.ts";
import { sealOrder } from "../cluster/orders.ts";
import { direct } from "../lib/proxy.ts";

/** What leaders tell each other of a project that goes from one to the other; behind it the cell and the id of its move. */
export const movesPath = "/.runnel/moves/";

/** What the cell has to know that it comes to, once it has all pieces. */
export interface Arrival {
  project: string;
  name: string;
  from: string;
  at_ms: number;
  pieces: number;
  /** Of the database: how many migrations it knows. */
  version: number;
  /** How long it may take to bring it in. */
  work_ms: number;
}

/** Whether it is in, or why it cannot be. `none`: nothing is known of it. */
export type Standing = { is: "in" } | { is: "none" } | { is: "refused"; why: string };

const patience_ms = 120_000;

/** Tells the leader of a cell something of a move. Throws where it does not answer with a success. */
export async function tellLeader(
  { seal, directory }: { seal: NodeSeal; directory: Pick<Directory, "findLeaderOf"> },
  cell: string,
  path: string,
  body: Uint8Array | string,
): Promise<Response> {
  const leader = await directory.findLeaderOf(cell);
  if (!leader) throw new Error(`Nobody leads the cell "${cell}".`);
  const answer = await fetch(`${leader.address}${path}`, {
    method: "POST",
    body,
    headers: sealOrder(seal, path, body),
    tls: nodeTls(leader.certificate),
    ...direct,
    signal: AbortSignal.timeout(patience_ms),
  } as RequestInit);
  if (!answer.ok)
    throw new Error(`The cell "${cell}" returns status ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
  return answer;
}

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { createNodeSeal, type Origin, originOf, passOn } from "../cluster/between-nodes.ts";
import { joinCell, type Lead, type Spare } from "../cluster/node.ts";
import { createWaysOut, type WaysOut } from "../cluster/ways-out.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { clusterMark } from "../db/cluster-mark.ts";
import type { DataDir } from "../db/data-dir.ts";
import { openDatabase } from "../db/open.ts";
import { errorBody, errorHeaders, type PublicUrl } from "../http/errors.ts";
import type { Log } from "../lib/log.ts";
import { type ClusterPlan, fencedCode } from "./cluster-plan.ts";
import { type Entrance, openEntrance } from "./entrance.ts";
import { exitCodes } from "./exit-code.ts";
import type { ListenPlan } from "./listen-plan.ts";
import type { Handle } from "./listener.ts";

interface NodeOptions {
  cluster: ClusterPlan;
  plan: ListenPlan;
  dir: DataDir;
  log: Log;
  publicUrlAt(port: number): string;
  /** A signal to stop. */
  told: Promise<string>;
}

/** A node that leads. */
export interface LeadingNode {
  lead: Lead;
  waysOut: WaysOut;
  /** As it was opened for a spare; it believes what other nodes say of whose requests they pass on. */
  entrance: Entrance;
  seal: ReturnType<typeof createNodeSeal>;
}

/** Listens and takes part as a spare, which passes requests on to the leader. Settles once this node leads. */
export async function leadNode(options: NodeOptions): Promise<LeadingNode> {
  const { cluster, plan, dir, log, publicUrlAt, told } = options;
  const entrance = await openEntrance(plan, dir, log);
  const publicUrl = () => publicUrlAt(entrance.port);
  try {
    const spare = await joinCell({
      url: cluster.url,
      candidate: {
        ...{ cell: cluster.cell, ttl_ms: cluster.ttl_ms, version: cluster.version },
        ...{ name: `${hostname()}-${randomBytes(4).toString("hex")}`, master_key_id: cluster.master_key_id },
        ...{ address: cluster.addressOf(entrance.port), certificate: entrance.certificate()?.cert ?? "" },
      },
      database: dir.database,
      marker: join(dir.path, clusterMark),
      prepareDatabase: () => openDatabase(dir.database, { vecLibrary: dir.vecLibrary() }).close(),
      onFenced() {
        log.error("another node leads the cell: this one ends", { cell: cluster.cell });
        process.exit(fencedCode);
      },
      log,
    });
    let isSpare = true;
    void told.then((signal) => {
      if (!isSpare) return;
      log.info("stopping", { signal });
      process.exit(exitCodes.done);
    });
    const seal = createNodeSeal(cluster.masterKey);
    entrance.letIn(spareHandle({ spare, seal, entrance, publicUrl }));
    log.info("a spare, until the cell needs a leader", { cell: cluster.cell, port: entrance.port });
    const lead = await spare.lead();
    isSpare = false;
    return { lead, waysOut: createWaysOut(lead.ship), entrance: believingNodes(entrance, seal), seal };
  } catch (error) {
    await entrance.cut();
    throw error;
  }
}

interface SpareOptions {
  spare: Spare;
  seal: ReturnType<typeof createNodeSeal>;
  entrance: Entrance;
  publicUrl: PublicUrl;
}

function spareHandle({ spare, seal, entrance, publicUrl }: SpareOptions): Handle {
  return async (request) => {
    if (new URL(request.url).pathname === "/healthz") return Response.json({ status: "spare" });
    const leader = spare.leader();
    // What one node has passed on is not passed on again: they disagree about who leads, for a moment.
    if (!leader || leader.address === "" || originOf(request, seal)) return clusterAway(publicUrl);
    const origin: Origin = { peer: entrance.peerOf(request), plain: entrance.isPlain(request) };
    return await passOn(request, { ...leader, seal, origin }).catch(() => clusterAway(publicUrl));
  };
}

/** Takes the word of a process with the same master key for who asked, where it has passed a request on. */
export function believingNodes(entrance: Entrance, seal: ReturnType<typeof createNodeSeal>): Entrance {
  const origins = new WeakMap<Request, Origin | null>();
  const originIn = (request: Request): Origin | null => {
    if (!origins.has(request)) origins.set(request, originOf(request, seal));
    return origins.get(request)!;
  };
  return {
    ...entrance,
    isPlain: (request) => originIn(request)?.plain ?? entrance.isPlain(request),
    peerOf(request) {
      const origin = originIn(request);
      return origin ? origin.peer : entrance.peerOf(request);
    },
  };
}

/** What is answered while nobody can say whether something would last. */
export function clusterAway(publicUrl: PublicUrl): Response {
  const error = new AppError("cluster_unavailable", "The cluster has no leader at the moment, or its engine is away.", {
    retryAfter: 1,
  });
  const request_id = newId("request", Date.now());
  const headers = { ...errorHeaders(error), "x-request-id": request_id };
  return Response.json({ ...errorBody(error, publicUrl), request_id }, { status: error.status, headers });
}

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import type { App } from "../app.ts";
import {
  createNodeSeal,
  type NodeSeal,
  nodeName,
  nodeTls,
  type Origin,
  type Person,
  passedHeader,
  passOn,
} from "../cluster/between-nodes.ts";
import { createDirectory, type Directory } from "../cluster/directory.ts";
import { joinCells, type Lead } from "../cluster/node.ts";
import { createWaysOut, type WaysOut } from "../cluster/ways-out.ts";
import { createWhileLeading } from "../cluster/while-leading.ts";
import { createAudit } from "../db/audit.ts";
import { clusterMark } from "../db/cluster-mark.ts";
import type { DataDir } from "../db/data-dir.ts";
import { forgetVectors } from "../db/kept-vectors.ts";
import { migrateApart } from "../db/migrate-apart.ts";
import { type Db, openDatabase } from "../db/open.ts";
import type { PublicUrl } from "../http/errors.ts";
import { createTransportGate } from "../http/https-only.ts";
import { selfSigned } from "../lib/certificate.ts";
import type { Log } from "../lib/log.ts";
import { createSeal } from "../lib/seal.ts";
import { createMoveStore } from "../projects/moves.ts";
import { type CellRouter, createCellRouter } from "./cell-router.ts";
import { clusterAway, notPassed, orAway } from "./cluster-away.ts";
import { type ClusterPlan, fencedCode } from "./cluster-plan.ts";
import { commandsElsewhere } from "./commands-elsewhere.ts";
import { type Entrance, openEntrance } from "./entrance.ts";
import { exitCodes } from "./exit-code.ts";
import { type ListenPlan, ownNamesOf, rulesOf } from "./listen-plan.ts";
import type { Handle } from "./listener.ts";
import { createProjectMover, type ProjectMover } from "./project-mover.ts";
import { createProjectReceiver } from "./project-receiver.ts";
import { shareTables } from "./shared-tables.ts";
import { createSpareHandle } from "./spare-handle.ts";
import { stopServer } from "./stop.ts";

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
  entrance: ReturnType<typeof believingNodes>;
  seal: NodeSeal;
  /** Whether its cell has what is of no project: accounts, model connections. */
  isFirst: boolean;
  /** The way to the other cells, where there are some. */
  others: OtherCells | null;
}

interface OtherCells {
  directory: Directory;
  projectsElsewhere(): Promise<{ id: string; name: string }[]>;
  /** Has each cell read what is changed in the first one. Settles once this one has what there is. */
  share(db: Db): Promise<unknown>;
  /** What moves projects from here, and to here. */
  movers(given: { db: Db; moving: App["moving"] }): Movers;
  /** Has another leader run a command that is its; null for what is this one's. */
  command(mover: Pick<ProjectMover, "over">): ReturnType<typeof commandsElsewhere>;
  /** Handles what is this cell's, and passes on what is another's. */
  lead(
    given: Pick<
      Parameters<CellRouter["ofLeader"]>[0],
      "routes" | "handle" | "mover" | "personOf" | "staysSignedIn" | "sure"
    >,
  ): Handle;
}

interface Movers {
  mover: ProjectMover;
  receive: ReturnType<typeof createProjectReceiver>;
}

/** Listens and takes part as a spare, which passes requests on to the leader. Settles once this node leads. */
export async function leadNode(options: NodeOptions): Promise<LeadingNode> {
  const { cluster, plan, dir, log, publicUrlAt, told } = options;
  // Unlike the public one, it is renewed by nobody, and whoever trusts it trusts nothing else.
  const own = plan.tls && selfSigned([nodeName]);
  const seal = createNodeSeal(cluster.masterKey);
  const opened = await openEntrance(plan, dir, log, { own });
  const publicUrl = () => publicUrlAt(opened.port);
  const entrance = {
    ...opened,
    letIn: (handle: Handle) => opened.letIn(refusingForged(handle, { seal, log, publicUrl })),
  };
  try {
    const spare = await joinCells({
      url: cluster.url,
      cells: cluster.cells,
      candidate: {
        ttl_ms: cluster.ttl_ms,
        version: cluster.version,
        name: `${hostname()}-${randomBytes(4).toString("hex")}`,
        master_key_id: cluster.master_key_id,
        address: cluster.addressOf(entrance.port),
        certificate: own?.cert ?? "",
      },
      database: dir.database,
      marker: join(dir.path, clusterMark),
      async prepareDatabase() {
        await migrateApart(dir.database, dir.vecLibrary());
        openDatabase(dir.database, { vecLibrary: dir.vecLibrary() }).close();
      },
      forgetMade: () => forgetVectors(dir.database),
      onFenced(cell, fault) {
        if (fault) log.error("what was committed cannot be sent: this node ends", { cell, error: fault });
        else log.error("another node leads the cell: this one ends", { cell });
        process.exit(fencedCode);
      },
      log,
    });
    let isSpare = true;
    void told.then(async (signal) => {
      if (!isSpare) return;
      log.info("stopping", { signal });
      spare.stop();
      const nothing = { endWork: async () => {}, leave: async () => {}, close() {} };
      await stopServer({ entrance, log, ...nothing });
      process.exit(exitCodes.done);
    });
    // On its own connection: the leader is known also while a long copy is read.
    const directory = createDirectory(cluster.url, cluster.cells);
    const ways = { directory, seal, entrance, publicUrl };
    const others = cluster.cells.length > 1 ? waysToOthers({ cluster, ...ways }) : null;
    const [cell] = cluster.cells;
    const { isRebound } = createTransportGate({
      ...entrance,
      rules: rulesOf(plan),
      isOwnName: ownNamesOf(plan, entrance, publicUrl()),
      onExposed() {}, // The leader notes it.
    });
    const handle = others?.router.ofSpare ?? ofOneCell({ cell, ...ways });
    entrance.letIn(createSpareHandle({ handle, publicUrl, isRebound }));
    log.info("a spare, until a cell needs a leader", { cell: cluster.cells.join(), port: entrance.port });
    const lead = await spare.lead();
    isSpare = false;
    return {
      lead,
      waysOut: createWaysOut(lead.ship),
      entrance: believingNodes(entrance, seal),
      seal,
      isFirst: lead.cell === cell,
      others: others && otherCells({ cluster, lead, dir, seal, log, ...others }),
    };
  } catch (error) {
    await entrance.cut();
    throw error;
  }
}

/**
 * Refuses what says that a node has passed it on, and is not to be believed: to take it for a client's would let whoever
 * can confuse a node ask under that node's address.
 */
function refusingForged(
  handle: Handle,
  { seal, log, publicUrl }: Pick<SpareOptions, "seal" | "publicUrl"> & { log: Log },
): Handle {
  let warned = Number.NEGATIVE_INFINITY;
  return (request) => {
    if (!request.headers.has(passedHeader) || seal.originOf(request)) return handle(request);
    if (performance.now() - warned > warnEvery_ms) {
      warned = performance.now();
      log.warn("a request that a node has passed on is not believed: by another RUNNEL_MASTER_KEY, or clocks differ");
    }
    return clusterAway(publicUrl);
  };
}

const warnEvery_ms = 60_000;

interface SpareOptions {
  directory: Directory;
  cell: string;
  seal: NodeSeal;
  entrance: Entrance;
  publicUrl: PublicUrl;
}

function waysToOthers({ cluster, ...ways }: Omit<SpareOptions, "cell"> & { cluster: ClusterPlan }) {
  const tokens = createSeal(cluster.masterKey);
  return { directory: ways.directory, router: createCellRouter({ cells: cluster.cells, tokens, ...ways }) };
}

type OtherCellsOptions = ReturnType<typeof waysToOthers> &
  Pick<NodeOptions, "cluster" | "dir" | "log"> & { lead: Lead; seal: NodeSeal };

function otherCells({ cluster, lead, dir, seal, log, directory, router }: OtherCellsOptions): OtherCells {
  const { cell, epoch, ship } = lead;
  const { cells, version } = cluster;
  return {
    movers({ db, moving }) {
      const moves = createMoveStore({ db, audit: createAudit({ db }) });
      const both = { own: cell, epoch, version, seal, directory, ship, moves, log };
      return {
        mover: createProjectMover({ ...both, cells, db, moving }),
        receive: createProjectReceiver({ ...both, folder: join(dir.path, "moving"), arrived: moving.arrived }),
      };
    },
    directory,
    async projectsElsewhere() {
      const all = await orAway(directory.projects());
      const elsewhere = all.filter((project) => project.cell !== cell && project.is_open);
      return elsewhere.map(({ project, name }) => ({ id: project, name }));
    },
    share: (db) =>
      shareTables({ first: cluster.cells[0], own: cell, epoch, db, directory, log, settled: ship.settled }),
    command: ({ over }) => commandsElsewhere({ own: cell, cells, seal, directory, over }),
    lead: (given) => router.ofLeader({ ...given, cell }),
  };
}

function ofOneCell({ directory, cell, seal, entrance, publicUrl }: SpareOptions): Handle {
  const whileLeading = createWhileLeading(directory.leaderOf);
  return async (request) => {
    // A spare that has just started may not know the leader yet.
    const leader = await directory.findLeaderOf(cell);
    // What one node has passed on is not passed on again: they disagree about who leads, for a moment.
    if (!leader || leader.address === "" || seal.originOf(request)) return clusterAway(publicUrl);
    const origin: Origin = { peer: entrance.peerOf(request), plain: entrance.isPlain(request) };
    return await passOn(request, {
      address: leader.address,
      tls: nodeTls(leader.certificate),
      seal,
      origin,
      until: whileLeading(cell),
    }).catch((error: unknown) => notPassed(error, publicUrl));
  };
}

/** Takes the word of a process with the same master key for who asked, where it has passed a request on. */
export function believingNodes(entrance: Entrance, seal: NodeSeal) {
  const originIn = seal.originOf;
  return {
    ...entrance,
    /** Who is signed in where the request came from; null for nobody, and for what came from outside. */
    personOf: (request: Request): Person | null => originIn(request)?.person ?? null,
    isPlain: (request: Request): boolean => originIn(request)?.plain ?? entrance.isPlain(request),
    peerOf(request: Request): string | null {
      const origin = originIn(request);
      return origin ? origin.peer : entrance.peerOf(request);
    },
  };
}

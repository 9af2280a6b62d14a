import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import type { App } from "../../app.ts";
import type { PublicUrl } from "../../http/errors.ts";
import { createTransportGate } from "../../http/https-only.ts";
import { selfSigned } from "../../lib/certificate.ts";
import type { Log } from "../../lib/log.ts";
import { createSeal } from "../../lib/seal.ts";
import { createMoveStore } from "../../resources/projects/moves.ts";
import { createAudit } from "../../storage/db/audit.ts";
import type { DataDir } from "../../storage/db/data-dir.ts";
import { migrateInWorker } from "../../storage/db/migrate-in-worker.ts";
import { type Db, openDatabase } from "../../storage/db/open.ts";
import { replicaMarker } from "../../storage/db/replica-marker.ts";
import { deleteVectorCache } from "../../storage/db/vector-cache.ts";
import { createDirectory, type Directory } from "../../storage/replication/directory.ts";
import { createLeaderOnly } from "../../storage/replication/leader-only.ts";
import { joinCells, type Lead } from "../../storage/replication/node.ts";
import {
  createNodeSeal,
  type NodeSeal,
  nodeName,
  nodeTls,
  type Origin,
  type Person,
  passedHeader,
  passOn,
} from "../../storage/replication/node-auth.ts";
import { createOutputFence, type OutputFence } from "../../storage/replication/output-fence.ts";
import { exitCodes } from "../commands/exit-code.ts";
import { remoteCommands } from "../commands/remote-commands.ts";
import { type ListenPlan, ownNamesOf, rulesOf } from "../serve/listen-plan.ts";
import type { Handle } from "../serve/listener.ts";
import { type Listeners, openListeners } from "../serve/listeners.ts";
import { shutdown } from "../serve/shutdown.ts";
import { createSpareHandle } from "../spare-handle.ts";
import { type CellRouter, createCellRouter } from "./cell-router.ts";
import { type ClusterPlan, fencedCode } from "./cluster-plan.ts";
import { clusterUnavailable, forwardFailureResponse, orUnavailable } from "./cluster-unavailable.ts";
import { createProjectMover, type ProjectMover } from "./project-mover.ts";
import { createProjectReceiver } from "./project-receiver.ts";
import { replicateTables } from "./replicated-tables.ts";

interface NodeOptions {
  cluster: ClusterPlan;
  plan: ListenPlan;
  dir: DataDir;
  log: Log;
  publicUrlAt(port: number): string;
  /** Resolves with a signal to stop. */
  told: Promise<string>;
}

export interface LeadingNode {
  lead: Lead;
  waysOut: OutputFence;
  /** The listeners opened as a spare. They trust what other nodes state about the requests that they pass on. */
  entrance: ReturnType<typeof trustNodeOrigins>;
  seal: NodeSeal;
  /** True if its cell has the data without a project: accounts, model connections. */
  isFirst: boolean;
  /** Access to the other cells; null if there is only one. */
  others: OtherCells | null;
}

interface OtherCells {
  directory: Directory;
  projectsElsewhere(): Promise<{ id: string; name: string }[]>;
  /** Replicates the shared tables of the first cell. Resolves once this cell has the current ones. */
  share(db: Db): Promise<unknown>;
  /** Returns the mover and the receiver of projects. */
  movers(given: { db: Db; moving: App["moving"] }): Movers;
  /** Returns a function that sends a command to the leader of its cell; null for a command of this cell. */
  command(mover: ProjectMover): ReturnType<typeof remoteCommands>;
  /** Returns a handler that handles requests of this cell and passes on all others. */
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

/** Listens and joins as a spare, which passes requests on to the leader. Resolves once this node leads. */
export async function leadNode(options: NodeOptions): Promise<LeadingNode> {
  const { cluster, plan, dir, log, publicUrlAt, told } = options;
  // The certificate among nodes. Unlike the public one it is never renewed, and nodes trust no other.
  const own = plan.tls && (await selfSigned([nodeName]));
  const seal = createNodeSeal(cluster.masterKey);
  const opened = await openListeners(plan, dir, log, { own });
  const publicUrl = () => publicUrlAt(opened.port);
  const entrance = {
    ...opened,
    letIn: (handle: Handle) => opened.letIn(rejectForgedRequests(handle, { seal, log, publicUrl })),
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
      marker: join(dir.path, replicaMarker),
      async prepareDatabase() {
        await migrateInWorker(dir.database, dir.vecLibrary());
        openDatabase(dir.database, { vecLibrary: dir.vecLibrary() }).close();
      },
      forgetMade: () => deleteVectorCache(dir.database),
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
      const noWork = { endWork: async () => {}, leave: async () => {}, close() {} };
      await shutdown({ entrance, log, ...noWork });
      process.exit(exitCodes.done);
    });
    // A separate connection, so that the leader is known while a long copy is read.
    const directory = createDirectory(cluster.url, cluster.cells);
    const ways = { directory, seal, entrance, publicUrl };
    const others = cluster.cells.length > 1 ? createCellRouting({ cluster, ...ways }) : null;
    const [cell] = cluster.cells;
    const { isRebound } = createTransportGate({
      ...entrance,
      rules: rulesOf(plan),
      isOwnName: ownNamesOf(plan, entrance, publicUrl()),
      onExposed() {}, // The leader records it.
    });
    const handle = others?.router.ofSpare ?? createSingleCellHandle({ cell, ...ways });
    entrance.letIn(createSpareHandle({ handle, publicUrl, isRebound }));
    log.info("a spare, until a cell needs a leader", { cell: cluster.cells.join(), port: entrance.port });
    const lead = await spare.lead();
    isSpare = false;
    return {
      lead,
      waysOut: createOutputFence(lead.ship),
      entrance: trustNodeOrigins(entrance, seal),
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
 * Refuses a request with an invalid signature of a node: treating it as a client's request would let an attacker who
 * can confuse a node send requests under that node's address.
 */
function rejectForgedRequests(
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
    return clusterUnavailable(publicUrl);
  };
}

const warnEvery_ms = 60_000;

interface SpareOptions {
  directory: Directory;
  cell: string;
  seal: NodeSeal;
  entrance: Listeners;
  publicUrl: PublicUrl;
}

function createCellRouting({ cluster, ...ways }: Omit<SpareOptions, "cell"> & { cluster: ClusterPlan }) {
  const tokens = createSeal(cluster.masterKey);
  return { directory: ways.directory, router: createCellRouter({ cells: cluster.cells, tokens, ...ways }) };
}

type OtherCellsOptions = ReturnType<typeof createCellRouting> &
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
        receive: createProjectReceiver({ ...both, folder: join(dir.path, "moving"), arrived: moving.onProjectArrived }),
      };
    },
    directory,
    async projectsElsewhere() {
      const all = await orUnavailable(directory.projects());
      const elsewhere = all.filter((project) => project.cell !== cell && project.is_open);
      return elsewhere.map(({ project, name }) => ({ id: project, name }));
    },
    share: (db) =>
      replicateTables({ first: cluster.cells[0], own: cell, epoch, db, directory, log, settled: ship.settled }),
    command: ({ over }) => remoteCommands({ own: cell, cells, seal, directory, over }),
    lead: (given) => router.ofLeader({ ...given, cell }),
  };
}

function createSingleCellHandle({ directory, cell, seal, entrance, publicUrl }: SpareOptions): Handle {
  const whileLeading = createLeaderOnly(directory.leaderOf);
  return async (request) => {
    // A spare that has just started may not know the leader yet.
    const leader = await directory.findLeaderOf(cell);
    // A request passed on by a node is not passed on again: the nodes disagree for a moment about the leader.
    if (!leader || leader.address === "" || seal.originOf(request)) return clusterUnavailable(publicUrl);
    const origin: Origin = { peer: entrance.peerOf(request), plain: entrance.isPlain(request) };
    return await passOn(request, {
      address: leader.address,
      tls: nodeTls(leader.certificate),
      seal,
      origin,
      until: whileLeading(cell),
    }).catch((error: unknown) => forwardFailureResponse(error, publicUrl));
  };
}

/** Trusts a process with the same master key about the origin of the requests that it passes on. */
export function trustNodeOrigins(entrance: Listeners, seal: NodeSeal) {
  const originIn = seal.originOf;
  return {
    ...entrance,
    /** Returns the person signed in at the passing node; null if there is none or the request came from outside. */
    personOf: (request: Request): Person | null => originIn(request)?.person ?? null,
    isPlain: (request: Request): boolean => originIn(request)?.plain ?? entrance.isPlain(request),
    peerOf(request: Request): string | null {
      const origin = originIn(request);
      return origin ? origin.peer : entrance.peerOf(request);
    },
  };
}

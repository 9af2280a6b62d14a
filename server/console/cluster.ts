import type { CellStatus } from "../cluster/status.ts";
import { AppError } from "../core/errors.ts";
import { notFound } from "../core/not-found.ts";
import type { ClusterInfo } from "../wire/console.ts";

/** The cluster as the dashboard is told of it. */
export interface ClusterPort {
  /** The cell that this server leads. */
  cell: string;
  /** Null when the engine does not answer. */
  cells(): Promise<CellStatus[] | null>;
}

interface ClusterOptions {
  /** Null on one machine. */
  cluster: ClusterPort | null;
  lastFailover(): ClusterInfo["failover"];
}

// The sizes are counted, which takes the engine a while where they are large: pages that ask often may not keep it at that.
const [fresh_ms, restFactor] = [2000, 20];

/** Reads what stands in the engine, for all who ask within a while at once. */
export function createClusterReader({ cluster, lastFailover }: ClusterOptions) {
  let read: { cells: Promise<CellStatus[] | null>; until: number } | null = null;

  async function readAnew(port: ClusterPort): Promise<CellStatus[] | null> {
    const begun = performance.now();
    const cells = await port.cells().catch(() => null);
    const ended = performance.now();
    if (read) read.until = cells ? ended + Math.max(fresh_ms, restFactor * (ended - begun)) : 0;
    return cells;
  }

  return async (): Promise<ClusterInfo> => {
    if (!cluster) throw notFound();
    if (!read || performance.now() > read.until) {
      read = { cells: Promise.resolve(null), until: Number.POSITIVE_INFINITY };
      read.cells = readAnew(cluster);
    }
    const cells = await read.cells;
    if (!cells)
      throw new AppError("cluster_unavailable", "The cluster's engine does not answer at the moment.", {
        retryAfter: 1,
      });
    return { cell: cluster.cell, cells, failover: lastFailover() };
  };
}

import type { ClusterInfo } from "../domain/api-types/console.ts";
import { AppError } from "../domain/errors.ts";
import { notFound } from "../domain/not-found.ts";
import type { CellStatus } from "../storage/replication/status.ts";

/** Cluster status for the dashboard. */
export interface ClusterPort {
  /** The cell that this server leads. */
  cell: string;
  /** Returns null if Postgres does not respond. */
  cells(): Promise<CellStatus[] | null>;
}

interface ClusterOptions {
  /** Null on one machine. */
  cluster: ClusterPort | null;
  lastFailover(): ClusterInfo["failover"];
}

// Measuring large databases is slow, so cache the result for 20 times as long as the reading took, at least two
// seconds.
const [fresh_ms, restFactor] = [2000, 20];

/** Reads the cluster status from Postgres. Concurrent and later callers share one reading until it is stale. */
export function createClusterReader({ cluster, lastFailover }: ClusterOptions) {
  let cached: { cells: Promise<CellStatus[] | null>; until: number } | null = null;

  async function readAnew(port: ClusterPort): Promise<CellStatus[] | null> {
    const begun = performance.now();
    const cells = await port.cells().catch(() => null);
    const ended = performance.now();
    if (cached) cached.until = cells ? ended + Math.max(fresh_ms, restFactor * (ended - begun)) : 0;
    return cells;
  }

  return async (): Promise<ClusterInfo> => {
    if (!cluster) throw notFound();
    if (!cached || performance.now() > cached.until) {
      cached = { cells: Promise.resolve(null), until: Number.POSITIVE_INFINITY };
      cached.cells = readAnew(cluster);
    }
    const cells = await cached.cells;
    if (!cells)
      throw new AppError("cluster_unavailable", "The cluster's engine does not answer at the moment.", {
        retryAfter: 1,
      });
    return { cell: cluster.cell, cells, failover: lastFailover() };
  };
}

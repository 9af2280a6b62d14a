import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { build } from "../../lib/build-info.ts";
import { createPoll } from "../../lib/poll.ts";
import { processTable } from "../../lib/process-table.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Instruments } from "./instruments.ts";

/** State of the scheduled backups. */
export interface BackupState {
  /** Time of the newest backup; null if none is known. */
  last_success_ms: number | null;
  /** Number of failures since the start. */
  failures: number;
}

/** Replication metrics of the cell that a node leads. */
export interface ClusterFigures {
  epoch: number;
  rows: number;
  bytes: number;
  acked: number;
  waiting: number;
  silent_ms: number;
  reconnects: number;
}

interface GaugeSources {
  db: Db;
  /** Path of the database file; absent if it is in memory. */
  database?: string;
  sandbox: { known(): SandboxLevel | null };
  /** Absent if backups are not scheduled. */
  backups?: () => BackupState;
  /** Set on a node that leads a cell. */
  cluster?: () => ClusterFigures;
  /** Connections to model servers with a concurrency limit. */
  modelPlaces(): { connection: string; count: number; taken: number; waiting: number }[];
  /** Number of models with an open circuit breaker, by connection. */
  openCircuits(): ReadonlyMap<string, number>;
  /** Number of runs being executed. */
  driving(): number;
  now: () => number;
}

const started_s = (Date.now() - performance.now()) / 1000;
const lagEvery_ms = 500;

/** Gauges that are computed at each scrape instead of being updated. */
export function createGauges(
  instruments: Instruments,
  { db, database, sandbox, backups, cluster, modelPlaces, openCircuits, driving, now }: GaugeSources,
) {
  const { runs, memory, webhooks } = instruments;
  const count = (sql: string) => {
    const query = db.sqlite.query<{ n: number }, []>(sql);
    return () => onlyRow(query.get()).n;
  };
  // Joined with projects, because the index begins with project and environment.
  const selectRuns = db.sqlite.query<{ status: string; n: number; oldest: number }, []>(
    `SELECT status, count(*) AS n, min(status_since_ms) AS oldest FROM projects JOIN runs ON runs.project_id = projects.id
     WHERE environment IN ('test', 'live') AND status IN ('queued', 'in_progress', 'requires_action', 'paused') GROUP BY status`,
  );
  const pendingDeliveries = count("SELECT count(*) AS n FROM webhook_deliveries WHERE next_at_ms IS NOT NULL");
  // Counts the same webhooks as the alert: only those that the server disabled.
  const disabledWebhooks = count(
    `SELECT count(*) AS n FROM webhooks WHERE run_id IS NULL AND deleted_at_ms IS NULL
     AND disabled_reason IN ('gone', 'failing')`,
  );
  const indexing = count("SELECT count(*) AS n FROM memory_entries WHERE status = 'processing'");
  const filesInWork = count("SELECT count(*) AS n FROM files WHERE status IN ('uploaded', 'processing')");
  instruments.build.set({ version: build.version, commit: build.commit }, 1);

  let lag_ms = 0;
  let isActive = false;
  // An idle main thread delays nothing: its lag is measured until half a second without work has passed.
  const lagPoll = createPoll({
    every_ms: lagEvery_ms,
    look(late_ms) {
      lag_ms = Math.max(lag_ms, late_ms);
      const wasActive = isActive || driving() > 0;
      isActive = false;
      return wasActive;
    },
  });

  function lookAtRuns(): void {
    const rows = new Map(selectRuns.all().map((row) => [row.status, row]));
    for (const status of ["queued", "in_progress", "requires_action", "paused"])
      runs.now.set({ status }, rows.get(status)?.n ?? 0);
    const queued = rows.get("queued");
    runs.oldest.set(queued ? Math.max(0, now() - queued.oldest) / 1000 : 0);
    runs.driven.set(driving());
  }

  /** Connections that have had an open circuit breaker: they show 0 afterwards. */
  const awayConnections = new Set<string>();

  function lookAtModels(): void {
    for (const { connection, count, taken, waiting } of modelPlaces()) {
      instruments.models.places.set({ connection }, count);
      instruments.models.taken.set({ connection }, taken);
      instruments.models.waiting.set({ connection }, waiting);
    }
    for (const connection of awayConnections) instruments.models.away.set({ connection }, 0);
    for (const [connection, count] of openCircuits()) {
      instruments.models.away.set({ connection }, count);
      awayConnections.add(connection);
    }
  }

  function lookAtDisk(): void {
    if (database === undefined) return;
    for (const [file, path] of [
      ["database", database],
      ["wal", `${database}-wal`],
    ] as const)
      instruments.database.size.set({ file }, statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    const { bavail, bsize } = statfsSync(dirname(database));
    instruments.database.free.set(bavail * bsize);
  }

  function lookAtBackups(): void {
    if (!backups) return;
    const { last_success_ms, failures } = backups();
    if (last_success_ms !== null) instruments.backups.lastSuccess.set(last_success_ms / 1000);
    instruments.backups.failures.set(failures);
  }

  function lookAtCluster(): void {
    if (!cluster) return;
    const { epoch, rows, bytes, acked, waiting, silent_ms, reconnects } = cluster();
    const { cluster: clusterGauges } = instruments;
    clusterGauges.leads.set(1);
    clusterGauges.epoch.set(epoch);
    clusterGauges.row.set(acked);
    clusterGauges.waiting.set(waiting);
    clusterGauges.silent.set(silent_ms / 1000);
    clusterGauges.rows.set(rows);
    clusterGauges.bytes.set(bytes);
    clusterGauges.reconnects.set(reconnects);
  }

  function lookAtProcess(): void {
    const { cpu, resident, files, maxFiles, started, lag } = instruments.process;
    const { user, system } = process.cpuUsage();
    cpu.set((user + system) / 1e6);
    resident.set(process.memoryUsage.rss());
    started.set(started_s);
    lag.set(lag_ms / 1000);
    lag_ms = 0;
    const [open, maxOpen] = [processTable.openFiles("self"), processTable.openFilesMax("self")];
    if (open) files.set(open.length);
    if (maxOpen !== null) maxFiles.set(maxOpen);
  }

  return {
    look(): void {
      lookAtRuns();
      lookAtModels();
      lookAtDisk();
      lookAtProcess();
      lookAtBackups();
      lookAtCluster();
      webhooks.pending.set(pendingDeliveries());
      webhooks.disabled.set(disabledWebhooks());
      memory.indexing.set(indexing());
      memory.files.set(filesInWork());
      instruments.sandbox.set(sandbox.known() === "strict" ? 1 : 0);
    },
    /** Call at each request and commit. */
    noteActivity(): void {
      isActive = true;
      lagPoll.wake();
    },
    stop: lagPoll.stop,
  };
}

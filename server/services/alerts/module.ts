import { statfsSync } from "node:fs";
import type { Base, Module } from "../../http/module.ts";
import type { ProjectsModule } from "../../resources/projects/module.ts";
import type { UsageModule } from "../../resources/usage/module.ts";
import type { WebhooksModule } from "../../resources/webhooks/module.ts";
import type { Failover } from "../../storage/replication/lease.ts";
import { createChecks, type LastBackup } from "./checks.ts";
import { createAlerts } from "./store.ts";

export interface AlertOptions {
  /** Expiry time of the server's certificate; null if it has none. */
  certificateEnds?: () => number | null;
  lastBackup?: LastBackup | null;
  /** The failover by which this process came to lead its cell; null if there was none. */
  failover?: Failover | null;
}

export type AlertsModule = ReturnType<typeof createAlertsModule>;

function diskOf(folder: string): { free: number; size: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}

const lookEvery_ms = 60_000;

interface Needs {
  base: Base;
  options: AlertOptions;
  projects: ProjectsModule;
  usage: UsageModule;
  webhooks: WebhooksModule;
}

/** Built-in alerts: checks once a minute, sends webhooks and lists them at the dashboard. Needs no Prometheus. */
export function createAlertsModule({ base, options, projects, usage, webhooks }: Needs) {
  const { db, dataDir, log, now } = base;
  const { certificateEnds = () => null, lastBackup = null, failover = null } = options;
  const { announce, announced } = webhooks;
  const open = () => projects.store.list().filter(({ archived_at_ms }) => archived_at_ms === null);
  const look = createChecks({
    db,
    certificateEnds,
    now,
    disk: () => (dataDir === null ? null : diskOf(dataDir)),
    projects: open,
    spentOn: usage.store.spentOn,
    lastBackup,
    failover,
  });
  const alerts = createAlerts({ db, look, announce, announced, projects: open, now });
  let timer: ReturnType<typeof setInterval> | undefined;
  // A full disk prevents this write too; the next check retries.
  const check = () => alerts.check().catch((error) => log.warn("alerts were not looked for", { error }));
  return {
    store: alerts,
    async start() {
      await check();
      timer = setInterval(check, lookEvery_ms).unref();
    },
    stop: () => clearInterval(timer),
  } satisfies Module;
}

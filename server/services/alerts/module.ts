import { statfsSync } from "node:fs";
import type { WebhookEvent } from "../../domain/api-types/enums.ts";
import type { ProjectSettings } from "../../domain/project-settings.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import type { Spent } from "../../resources/usage/store.ts";
import type { Failover } from "../../storage/replication/lease.ts";
import { createChecks, type LastBackup } from "./checks.ts";
import { createAlerts } from "./store.ts";

export interface AlertOptions {
  /** Expiry time of the server's certificate; null if it has none. */
  certificateEnds?: () => number | null;
  lastBackup?: LastBackup;
  /** The failover by which this process came to lead its cell; null if there was none. */
  failover?: Failover | null;
}

type Composed = Base &
  AlertOptions & {
    projects: { list(): { id: string; settings: ProjectSettings; archived_at_ms: number | null }[] };
    usage: { spentOn(scope: Scope, day: string): Spent };
    webhooks: {
      announce(scope: Scope, type: WebhookEvent, object: Record<string, unknown>): void;
      announced(): void;
    };
  };

function diskOf(folder: string): { free: number; size: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}

const lookEvery_ms = 60_000;

/** Built-in alerts: checks once a minute, sends webhooks and lists them at the dashboard. Needs no Prometheus. */
export function createAlertsModule({
  db,
  projects,
  usage,
  webhooks,
  certificateEnds = () => null,
  lastBackup,
  failover = null,
  dataDir,
  log,
  now,
}: Composed) {
  const open = () => projects.list().filter(({ archived_at_ms }) => archived_at_ms === null);
  const look = createChecks({
    db,
    certificateEnds,
    now,
    disk: () => (dataDir === null ? null : diskOf(dataDir)),
    projects: open,
    spentOn: usage.spentOn,
    lastBackup: lastBackup ?? null,
    failover,
  });
  const alerts = createAlerts({ db, look, ...webhooks, projects: open, now });
  let timer: ReturnType<typeof setInterval> | undefined;
  // A full disk prevents this write too; the next check retries.
  const check = () => alerts.check().catch((error) => log.warn("alerts were not looked for", { error }));
  return {
    exports: { alerts },
    async start() {
      await check();
      timer = setInterval(check, lookEvery_ms).unref();
    },
    stop: () => clearInterval(timer),
  } satisfies Module;
}

import { statfsSync } from "node:fs";
import type { Failover } from "../cluster/lease.ts";
import type { ProjectSettings } from "../core/project-settings.ts";
import type { Scope } from "../core/scope.ts";
import type { Base, Part } from "../http/part.ts";
import type { Spent } from "../usage/store.ts";
import type { WebhookEvent } from "../wire/names.ts";
import { createLooks, type LastBackup } from "./looks.ts";
import { createAlerts } from "./store.ts";

export interface AlertOptions {
  /** When the server's certificate ends; null where it has none. */
  certificateEnds?: () => number | null;
  lastBackup?: LastBackup;
  /** How this process came to lead its cell; null where nobody was replaced. */
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

/** What people should look at, without a Prometheus: looked for once a minute, told to webhooks, listed at the dashboard. */
export function composeAlerts({
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
  const look = createLooks({
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
  // A full disk keeps this from being written too: the next look tries again.
  const check = () => alerts.check().catch((error) => log.warn("alerts were not looked for", { error }));
  return {
    ports: { alerts },
    async start() {
      await check();
      timer = setInterval(check, lookEvery_ms).unref();
    },
    stop: () => clearInterval(timer),
  } satisfies Part;
}

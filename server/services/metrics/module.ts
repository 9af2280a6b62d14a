import type { HttpModule } from "../../http/create-http.ts";
import type { Base, Module } from "../../http/module.ts";
import type { ConnectionsModule } from "../../resources/model-connections/module.ts";
import type { UsageModule } from "../../resources/usage/module.ts";
import type { WebhooksModule } from "../../resources/webhooks/module.ts";
import type { RunsModule } from "../../runs/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { type BackupState, type ClusterFigures, createGauges } from "./gauges.ts";
import { createInstruments } from "./instruments.ts";
import { createRunObserver } from "./observe-runs.ts";
import { metricsRoutes } from "./routes.ts";
import { createSpending } from "./spending.ts";

export interface MetricsOptions {
  /** State of the scheduled backups; absent if there are none. */
  backups?: () => BackupState;
  /** Token by which other machines read metrics; absent: only this machine may. */
  metricsToken?: string;
  /** Set on a node that leads a cell. */
  cluster?: () => ClusterFigures;
}

interface Needs {
  base: Base;
  options: MetricsOptions;
  http: HttpModule;
  journals: Journals;
  connections: ConnectionsModule;
  webhooks: WebhooksModule;
  usage: UsageModule;
  runs: RunsModule;
}

/** Prometheus metrics. The module observes the others, which do not depend on it. */
export function createMetricsModule({ base, options, http, journals, connections, webhooks, usage, runs }: Needs) {
  const { backups, metricsToken: token, cluster } = options;
  const { db } = base;
  const instruments = createInstruments();
  const { registry, database } = instruments;
  const gauges = createGauges(instruments, {
    ...base,
    backups,
    cluster,
    driving: () => runs.pool.driving(),
    modelPlaces: connections.places.figures,
    openCircuits: connections.openCircuits,
  });
  const spending = createSpending(instruments);
  journals.onCommit(createRunObserver(instruments, spending, (runId) => journals.journal.head(runId)));
  usage.onPaid((model, spent) => {
    spending.called(model, "completed");
    spending.spend(model, spent);
  });
  db.write.timed((transaction_ms, commit_ms) => {
    database.transaction.observe(transaction_ms / 1000);
    database.commit.observe(commit_ms / 1000);
    gauges.noteActivity();
  });
  http.onAnswered(({ method, route, status, ms }) => {
    instruments.http.duration.observe(
      { http_request_method: methodOf(method), http_route: routeOf(route), http_response_status_code: status },
      ms / 1000,
    );
  });
  http.onBegun(gauges.noteActivity);
  webhooks.onTried(({ error, latency_ms }) => {
    instruments.webhooks.attempts.inc({ outcome: error ? "failed" : "delivered" });
    instruments.webhooks.duration.observe(latency_ms / 1000);
  });

  function read() {
    gauges.look();
    return { text: registry.text(), type: registry.contentType };
  }

  return {
    plugin: metricsRoutes({ clientOf: http.clientOf, isRebound: http.isRebound, token, read }),
    stop: gauges.stop,
  } satisfies Module;
}

/** Removes the trailing slash that a group's first route has; empty if no route matched. */
const routeOf = (route: string | null): string => (route ?? "").replace(/(?<=.)\/$/, "");

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Unknown methods become `_OTHER`, as in OpenTelemetry, because a label chosen by clients would be unbounded. */
const methodOf = (method: string): string => (methods.has(method) ? method : "_OTHER");

import type { ModelSpend } from "../../domain/run-event.ts";
import type { Base, Module } from "../../http/module.ts";
import type { Answered } from "../../http/response-finalizer.ts";
import type { Outcome } from "../../resources/webhooks/http-attempt.ts";
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

type Composed = Base & MetricsOptions & Observed;

interface Observed {
  journals: Journals;
  http: {
    onAnswered(hear: (answered: Answered) => void): void;
    clientOf(request: Request): string | null;
    isRebound(request: Request): boolean;
  };
  webhooks: { onTried(hear: (outcome: Outcome) => void): void };
  pool: { driving(): number };
  connections: { places: { figures(): { connection: string; count: number; taken: number; waiting: number }[] } };
  usage: { onPaid(hear: (model: string, spent: ModelSpend) => void): void };
}

/** Prometheus metrics. The module observes the others, which do not depend on it. */
export function createMetricsModule(composed: Composed) {
  const { db, journals, http, webhooks, pool, connections, usage, metricsToken, ...base } = composed;
  const instruments = createInstruments();
  const { registry, database } = instruments;
  const gauges = createGauges(instruments, {
    ...base,
    db,
    driving: () => pool.driving(),
    modelPlaces: connections.places.figures,
  });
  const spending = createSpending(instruments);
  journals.onCommit(createRunObserver(instruments, spending, journals.journal.head));
  usage.onPaid((model, spent) => {
    spending.called(model, "completed");
    spending.spend(model, spent);
  });
  db.write.timed((transaction_ms, commit_ms) => {
    database.transaction.observe(transaction_ms / 1000);
    database.commit.observe(commit_ms / 1000);
  });
  http.onAnswered(({ method, route, status, ms }) =>
    instruments.http.duration.observe(
      { http_request_method: methodOf(method), http_route: routeOf(route), http_response_status_code: status },
      ms / 1000,
    ),
  );
  webhooks.onTried(({ error, latency_ms }) => {
    instruments.webhooks.attempts.inc({ outcome: error ? "failed" : "delivered" });
    instruments.webhooks.duration.observe(latency_ms / 1000);
  });

  function read() {
    gauges.look();
    return { text: registry.text(), type: registry.contentType };
  }

  return {
    exports: {
      routes: () => metricsRoutes({ clientOf: http.clientOf, isRebound: http.isRebound, token: metricsToken, read }),
    },
    stop: gauges.stop,
  } satisfies Module;
}

/** Removes the trailing slash that a group's first route has; empty if no route matched. */
const routeOf = (route: string | null): string => (route ?? "").replace(/(?<=.)\/$/, "");

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Unknown methods become `_OTHER`, as in OpenTelemetry, because a label chosen by clients would be unbounded. */
const methodOf = (method: string): string => (methods.has(method) ? method : "_OTHER");

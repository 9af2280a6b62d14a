import { testEvent } from "../../domain/api-types/enums.ts";
import { itself, type StoreBase } from "../../storage/db/audit.ts";
import { webhookDeliveries } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import type { Outcome } from "./http-attempt.ts";
import { createWebhookRows, type DeliveryRow, type WebhookRow } from "./row.ts";

/** Effect of an attempt on its webhook. */
type Verdict = "delivered" | "failed" | "disabled" | "nothing";

export type DeliveryResults = ReturnType<typeof createDeliveryResults>;

const givenUpAfter_ms = 5 * 24 * 3_600_000;

/** Records attempts and their consequences. Call inside a write. */
export function createDeliveryResults({
  db,
  audit,
  now = Date.now,
  random = Math.random,
}: StoreBase & { random?: () => number }) {
  const { sqlite } = db;
  const deliveries = createScopedTable(db, webhookDeliveries);
  const webhooks = createWebhookRows(db);
  const insertAttempt = sqlite.query(
    `INSERT INTO webhook_attempts (project_id, environment, delivery_id, number, at_ms, latency_ms, request, response, error)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const updateDelivery = sqlite.query(
    `UPDATE webhook_deliveries SET body = ?, status = ?, failures = ?, attempts = ?, next_at_ms = ?
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const updateWebhook = sqlite.query(
    `UPDATE webhooks SET last_delivery_at_ms = ?, failing_since_ms = ?, failure_count = ?, enabled = ?, disabled_reason = ?
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );

  function insert(delivery: DeliveryRow, number: number, { request, response, error, ...times }: Outcome): void {
    insertAttempt.run(
      delivery.project_id,
      delivery.environment,
      delivery.id,
      number,
      times.at_ms,
      times.latency_ms,
      JSON.stringify(request),
      response && JSON.stringify(response),
      error && JSON.stringify(error),
    );
  }

  /** Every failure counts, including retries: an endpoint that fails for days is disabled. */
  function judge(webhook: WebhookRow, { at_ms, error, response, request }: Outcome): Verdict {
    // The address was changed during the attempt, whose outcome says nothing about the new one.
    if (webhook.url !== request.url) return "nothing";
    const failing_since_ms = error ? (webhook.failing_since_ms ?? at_ms) : null;
    const failing = failing_since_ms !== null && at_ms - failing_since_ms >= givenUpAfter_ms;
    const reason = response?.status === 410 ? "gone" : failing ? "failing" : null;
    updateWebhook.run(
      at_ms,
      failing_since_ms,
      error ? webhook.failure_count + 1 : 0,
      ...(reason && webhook.enabled ? [0, reason] : [webhook.enabled, webhook.disabled_reason]),
      webhook.project_id,
      webhook.environment,
      webhook.id,
    );
    if (reason && webhook.enabled) {
      const { project_id, environment, id, url } = webhook;
      const by = { project_id, environment, actor: itself };
      audit.note(by, "webhook.disabled", id, { host: new URL(url).host, reason });
      return "disabled";
    }
    return error ? "failed" : "delivered";
  }

  /** Records an attempt; no-op if the delivery was deleted with its webhook, run or project. */
  return function record(attemptedRow: DeliveryRow, body: string, outcome: Outcome): Verdict {
    const { project_id, environment } = attemptedRow;
    const delivery = deliveries.get(attemptedRow, attemptedRow.id);
    const webhook = webhooks.get(attemptedRow, attemptedRow.webhook_id);
    if (!delivery || !webhook) return "nothing";
    const attempts = delivery.attempts + 1;
    // A client may have requested a resend during the attempt: then the schedule has started over.
    const failures = outcome.error ? Math.min(delivery.failures, attemptedRow.failures) + 1 : 0;
    const isGone = outcome.response?.status === 410 && outcome.request.url === webhook.url;
    const isLast = isGone || delivery.type === testEvent;
    const wait = outcome.error && !isLast ? waitAfter(failures, outcome.asked_ms, random) : null;
    const status = !outcome.error ? "delivered" : wait === null ? "failed" : "pending";
    const next_at_ms = wait === null ? null : now() + wait;
    updateDelivery.run(body, status, failures, attempts, next_at_ms, project_id, environment, delivery.id);
    insert(delivery, attempts, outcome);
    return delivery.type === testEvent ? "nothing" : judge(webhook, outcome);
  };
}

const second_ms = 1000;
const minute_ms = 60 * second_ms;
const hour_ms = 60 * minute_ms;

/** Waits after the first, second, … failed attempt, as in Standard Webhooks: 75 hours in total. */
const waits_ms = [
  5 * second_ms,
  5 * minute_ms,
  30 * minute_ms,
  2 * hour_ms,
  5 * hour_ms,
  10 * hour_ms,
  14 * hour_ms,
  20 * hour_ms,
  24 * hour_ms,
] as const;

const maxRetryAfter_ms = 24 * hour_ms;

/** Milliseconds until the next attempt, at least what the receiver requested; null: give up. */
function waitAfter(failures: number, retryAfter_ms: number | null, random = Math.random): number | null {
  const wait = waits_ms[failures - 1];
  if (wait === undefined) return null;
  // Jitter, so that simultaneous failures are not retried simultaneously.
  const jittered = Math.round(wait * (0.8 + 0.4 * random()));
  return Math.max(jittered, Math.min(retryAfter_ms ?? 0, maxRetryAfter_ms));
}

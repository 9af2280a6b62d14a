import type { deliveryStatuses } from "../../domain/api-types/enums.ts";
import { changeable } from "../../domain/api-types/schema.ts";
import { siblingId } from "../../domain/ids.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { AttemptRow, DeliveryRow, WebhookRow } from "./row.ts";

/** Serializes a webhook for clients. */
export const serializeWebhook = (row: WebhookRow) => ({
  id: row.id,
  object: "webhook" as const,
  url: row.url,
  events: row.events,
  description: row.description,
  enabled: row.enabled,
  status: statusOf(row),
  disabled_reason: row.disabled_reason,
  secret_prefix: row.secret_prefix,
  previous_secret_expires_at: timestampOrNull(row.previous_until_ms),
  last_delivery_at: timestampOrNull(row.last_delivery_at_ms),
  failure_count: row.failure_count,
  ...changeable(row),
});

const statusOf = ({ enabled, failing_since_ms }: WebhookRow) =>
  !enabled ? ("disabled" as const) : failing_since_ms === null ? ("active" as const) : ("failing" as const);

/** Shows pending deliveries with failures as `retrying`. */
const deliveryStatus = ({ status, failures }: DeliveryRow): (typeof deliveryStatuses)[number] =>
  status === "pending" && failures > 0 ? "retrying" : status;

/** Serializes a delivery for lists. */
export const serializeDelivery = (row: DeliveryRow) => ({
  id: row.id,
  object: "webhook_delivery" as const,
  webhook_id: row.webhook_id,
  event_id: siblingId(row.id, "event"),
  type: row.type,
  run_id: row.run_id,
  seq: row.seq,
  status: deliveryStatus(row),
  attempts_count: row.attempts,
  next_attempt_at: timestampOrNull(row.next_at_ms),
  metadata: {},
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});

/** Serializes a delivery with its body and attempts. `body` is null before the first attempt. */
export const serializeFullDelivery = (row: DeliveryRow, attempts: readonly AttemptRow[]) => ({
  ...serializeDelivery(row),
  body: row.body,
  attempts: attempts.map(shownAttempt),
});

const shownAttempt = ({ number, at_ms, latency_ms, request, response, error }: AttemptRow) => ({
  number,
  at: timestamp(at_ms),
  latency_ms,
  request,
  response,
  error,
});

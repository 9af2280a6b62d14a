import { siblingId } from "../core/ids.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { deliveryStatuses } from "../wire/names.ts";
import { changeable } from "../wire/schema.ts";
import type { AttemptRow, DeliveryRow, WebhookRow } from "./row.ts";

/** A webhook as clients see it. */
export const shownWebhook = (row: WebhookRow) => ({
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

/** What waits for its next attempt has failed too: it is not what waits for its first one. */
const deliveryStatus = ({ status, failures }: DeliveryRow): (typeof deliveryStatuses)[number] =>
  status === "pending" && failures > 0 ? "retrying" : status;

/** A delivery as it stands in a list. */
export const shownDelivery = (row: DeliveryRow) => ({
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

/** A delivery with what was sent and all that came of it. `body` is null before the first attempt. */
export const shownWhole = (row: DeliveryRow, attempts: readonly AttemptRow[]) => ({
  ...shownDelivery(row),
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

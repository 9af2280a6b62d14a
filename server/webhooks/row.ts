import type { Scope } from "../core/scope.ts";
import type { deliveryStatuses, testEvent, WebhookEvent } from "../wire/names.ts";

/** A webhook as the table holds it. */
export interface WebhookRow extends Scope {
  id: string;
  url: string;
  /** JSON: names of events, or "*". */
  events: string;
  description: string | null;
  enabled: number;
  disabled_reason: "requested" | "gone" | "failing" | null;
  sealed: string;
  secret_prefix: string;
  previous_until_ms: number | null;
  failing_since_ms: number | null;
  failure_count: number;
  last_delivery_at_ms: number | null;
  metadata: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** What one webhook is to hear of one event. */
export interface DeliveryRow extends Scope {
  id: string;
  webhook_id: string;
  type: WebhookEvent | typeof testEvent;
  run_id: string | null;
  seq: number | null;
  run_expires_at_ms: number | null;
  body: string | null;
  status: (typeof deliveryStatuses)[number];
  failures: number;
  attempts: number;
  next_at_ms: number | null;
  created_at_ms: number;
}

export interface AttemptRow {
  number: number;
  at_ms: number;
  latency_ms: number;
  request: string;
  response: string | null;
  error: string | null;
}

/** Finds a webhook that was not deleted. */
export const selectWebhook =
  "SELECT * FROM webhooks WHERE project_id = ? AND environment = ? AND id = ? AND deleted_at_ms IS NULL";

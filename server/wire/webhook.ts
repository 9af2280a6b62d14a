import type { Static } from "@sinclair/typebox";
import { environments } from "../core/scope.ts";
import * as t from "../lib/schema.ts";
import { deliveryStatuses, disabledReasons, testEvent, webhookEvents, webhookStatuses } from "./names.ts";
import { CodedError, envelope, resource } from "./schema.ts";

/** With its secret only where that has just been made. */
export const Webhook = resource("Webhook", "webhook", {
  url: t.text,
  events: t.list(t.text),
  description: t.orNull(t.text),
  enabled: t.boolean,
  status: t.oneOf(webhookStatuses),
  disabled_reason: t.orNull(t.oneOf(disabledReasons)),
  secret_prefix: t.text,
  previous_secret_expires_at: t.orNull(t.time),
  last_delivery_at: t.orNull(t.time),
  failure_count: t.integer,
  updated_at: t.time,
  secret: t.optional(t.text),
});
export type Webhook = Static<typeof Webhook>;

const delivery = {
  webhook_id: t.text,
  event_id: t.text,
  type: t.text,
  run_id: t.orNull(t.text),
  seq: t.orNull(t.integer),
  status: t.oneOf(deliveryStatuses),
  attempts_count: t.integer,
  next_attempt_at: t.orNull(t.time),
};

const Attempt = t.named(
  "DeliveryAttempt",
  t.object({
    number: t.integer,
    at: t.time,
    latency_ms: t.integer,
    request: t.named(
      "DeliveryRequest",
      t.object({ url: t.text, headers: t.typed<Record<string, string>>(t.anyObject) }),
    ),
    response: t.orNull(
      t.named(
        "DeliveryResponse",
        t.object({
          status: t.integer,
          headers: t.typed<Record<string, string>>(t.anyObject),
          body: t.text,
          truncated: t.boolean,
        }),
      ),
    ),
    error: t.orNull(CodedError),
  }),
);

export const WebhookDeliveryListItem = resource("WebhookDeliveryListItem", "webhook_delivery", delivery);
export type WebhookDeliveryListItem = Static<typeof WebhookDeliveryListItem>;

export const WebhookDelivery = resource("WebhookDelivery", "webhook_delivery", {
  ...delivery,
  body: t.orNull(t.text),
  attempts: t.list(Attempt),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookRedelivery = t.named(
  "WebhookRedelivery",
  t.object({ id: t.text, object: t.word("webhook_redelivery"), deliveries: t.integer, ...envelope }),
);

/** What the address of a webhook tool is sent. */
export const ToolCallDelivery = t.named(
  "ToolCallDelivery",
  t.object({
    id: t.text,
    object: t.word("tool_call"),
    tool: t.text,
    arguments: t.anyObject,
    run_id: t.text,
    callback_url: t.text,
    expires_at: t.time,
  }),
);
export type ToolCallDelivery = Static<typeof ToolCallDelivery>;

/** What webhooks are sent. */
export const WebhookEvent = t.named(
  "WebhookEvent",
  t.object({
    id: t.text,
    object: t.word("event"),
    type: t.oneOf([...webhookEvents, testEvent]),
    created_at: t.time,
    project_id: t.text,
    environment: t.oneOf(environments),
    run_id: t.orNull(t.text),
    seq: t.orNull(t.integer),
    data: t.object({ object: t.anyObject, tool_call: t.optional(t.anyObject), truncated: t.optional(t.boolean) }),
  }),
);

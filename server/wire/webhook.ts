import type { Static } from "@sinclair/typebox";
import { environments } from "../core/scope.ts";
import { deliveryStatuses, disabledReasons, testEvent, webhookEvents, webhookStatuses } from "./names.ts";
import {
  anyObject,
  boolean,
  CodedError,
  envelope,
  integer,
  list,
  named,
  object,
  oneOf,
  optional,
  orNull,
  resource,
  text,
  time,
  typed,
  word,
} from "./schema.ts";

/** With its secret only where that has just been made. */
export const Webhook = resource("Webhook", "webhook", {
  url: text,
  events: list(text),
  description: orNull(text),
  enabled: boolean,
  status: oneOf(webhookStatuses),
  disabled_reason: orNull(oneOf(disabledReasons)),
  secret_prefix: text,
  previous_secret_expires_at: orNull(time),
  last_delivery_at: orNull(time),
  failure_count: integer,
  updated_at: time,
  secret: optional(text),
});
export type Webhook = Static<typeof Webhook>;

const delivery = {
  webhook_id: text,
  event_id: text,
  type: text,
  run_id: orNull(text),
  seq: orNull(integer),
  status: oneOf(deliveryStatuses),
  attempts_count: integer,
  next_attempt_at: orNull(time),
};

const Attempt = object({
  number: integer,
  at: time,
  latency_ms: integer,
  request: object({ url: text, headers: typed<Record<string, string>>(anyObject) }),
  response: orNull(
    object({ status: integer, headers: typed<Record<string, string>>(anyObject), body: text, truncated: boolean }),
  ),
  error: orNull(CodedError),
});

export const WebhookDeliveryListItem = resource("WebhookDeliveryListItem", "webhook_delivery", delivery);
export type WebhookDeliveryListItem = Static<typeof WebhookDeliveryListItem>;

export const WebhookDelivery = resource("WebhookDelivery", "webhook_delivery", {
  ...delivery,
  body: orNull(text),
  attempts: list(Attempt),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookRedelivery = named(
  "WebhookRedelivery",
  object({ id: text, object: word("webhook_redelivery"), deliveries: integer, ...envelope }),
);

/** What webhooks are sent. */
export const WebhookEvent = named(
  "WebhookEvent",
  object({
    id: text,
    object: word("event"),
    type: oneOf([...webhookEvents, testEvent]),
    created_at: time,
    project_id: text,
    environment: oneOf(environments),
    run_id: orNull(text),
    seq: orNull(integer),
    data: object({ object: anyObject, tool_call: optional(anyObject), truncated: optional(boolean) }),
  }),
);

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { eventFields } from "../run-event.ts";
import { environments } from "../scope.ts";
import { Alert, Cell } from "./alert.ts";
import { deliveryStatuses, disabledReasons, type SentEvent, testEvent, webhookStatuses } from "./enums.ts";
import { File } from "./file.ts";
import { Run } from "./run.ts";
import { CodedError, choiceOf, envelope, eventName, resource, told } from "./schema.ts";

/** Includes its secret only in the response that creates it. */
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
      t.object({ url: t.text, headers: t.withType<Record<string, string>>(t.anyObject) }),
    ),
    response: t.orNull(
      t.named(
        "DeliveryResponse",
        t.object({
          status: t.integer,
          headers: t.withType<Record<string, string>>(t.anyObject),
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

/** Request body for webhook tools. */
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

const { messages: _, tool_calls, id, object, truncated: __, request_id: ___, ...ofRun } = Run.properties;
const { output: ____, ...ofCall } = tool_calls.items.properties;

/** A run within an event; only its head fields if it is too long. */
const WebhookRun = t.named(
  "WebhookRun",
  t.object({
    id,
    object,
    ...Type.Partial(t.object({ ...ofRun, tool_calls: t.list(t.named("WebhookRunToolCall", t.object(ofCall))) }))
      .properties,
  }),
);
const asked = told(eventFields["tool.requested"].call.properties);
const WebhookToolCall = t.named(
  "WebhookToolCall",
  t.object({
    id: asked.id,
    tool_id: asked.tool_id,
    tool: asked.tool,
    type: t.text,
    arguments: t.anyObject,
    needs: asked.needs,
    step_index: asked.step_index,
  }),
);

const truncated = t.optional(t.boolean);
const ofRunOnly = t.named("WebhookRunData", t.object({ object: WebhookRun, truncated }));
const ofFile = t.named("WebhookFileData", t.object({ object: File, truncated }));
const ofAlert = t.named("WebhookAlertData", t.object({ object: Alert, truncated }));
const dataOf = {
  "run.completed": ofRunOnly,
  "run.failed": ofRunOnly,
  "run.requires_action": ofRunOnly,
  "tool.requested": t.named(
    "WebhookToolCallData",
    t.object({ object: WebhookRun, tool_call: t.optional(WebhookToolCall), truncated }),
  ),
  "file.ready": ofFile,
  "file.failed": ofFile,
  "alert.opened": ofAlert,
  "alert.closed": ofAlert,
  "cell.failover": t.named("WebhookCellData", t.object({ object: Cell, truncated })),
  [testEvent]: t.named("WebhookTestData", t.object({ object: Webhook, truncated })),
} satisfies Record<SentEvent, TSchema>;

const sentEvents = Object.fromEntries(
  Object.entries(dataOf).map(([type, data]) => {
    const isOfRun = data.properties.object === WebhookRun;
    return [
      type,
      t.named(
        eventName(type, "WebhookEvent"),
        t.object({
          id: t.text,
          object: t.word("event"),
          type: t.word(type),
          created_at: t.time,
          project_id: t.text,
          environment: t.oneOf(environments),
          run_id: isOfRun ? t.text : Type.Null(),
          seq: isOfRun ? t.integer : Type.Null(),
          data,
        }),
      ),
    ];
  }),
);

/** Request bodies of webhooks. */
export const WebhookEvent = choiceOf("WebhookEvent", "type", sentEvents);

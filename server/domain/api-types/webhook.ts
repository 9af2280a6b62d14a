import { type Static, type TSchema, Type } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { eventFields } from "../run-event.ts";
import { Alert, Cell } from "./alert.ts";
import { deliveryStatuses, disabledReasons, type SentEvent, testEvent, webhookStatuses } from "./enums.ts";
import {
  Arguments,
  At,
  Attempt,
  AttemptsCount,
  CreatedAt,
  Duration,
  Enabled,
  Environment,
  objectOf,
  ProjectId,
  RunId,
  ToolName,
  ToolTypeName,
  UpdatedAt,
} from "./fields.ts";
import { File } from "./file.ts";
import { RolledBackLabel } from "./label.ts";
import { Run } from "./run.ts";
import { choiceOf, ErrorOrNull, envelope, eventName, resource, told } from "./schema.ts";

/** Includes its secret only in the response that creates it. */
export const Webhook = resource("Webhook", "webhook", {
  url: t.about("Where events are sent: `https`, or `http` to this machine in `test`.", t.text),
  events: t.about("The events that the webhook receives; `*`: all.", t.list(t.text)),
  description: t.about("A note for people on what it is used for; null: none.", t.orNull(t.text)),
  enabled: Enabled,
  status: t.about("Whether it is active, its last delivery failed, or it is disabled.", t.oneOf(webhookStatuses)),
  disabled_reason: t.about("Why it is off; null while it is on.", t.orNull(t.oneOf(disabledReasons))),
  secret_prefix: t.about("The beginning of the secret.", t.text),
  previous_secret_expires_at: t.about(
    "Until when the previous secret also signs; null: there is none.",
    t.orNull(t.time),
  ),
  last_delivery_at: t.about("When it was last delivered to; null: never.", t.orNull(t.time)),
  failure_count: t.about("How often it failed in a row.", t.integer),
  updated_at: UpdatedAt,
  secret: t.about("The secret, shown only once.", t.optional(t.text)),
});
export type Webhook = Static<typeof Webhook>;

const delivery = {
  webhook_id: t.about("Id of the webhook that it is sent to: `whk_…`.", t.text),
  event_id: t.about("The id of the event; it is the same for every attempt and redelivery.", t.text),
  type: t.about("The topic of the event, such as `run.completed`.", t.text),
  run_id: t.about("The run of the event; null where it is of none.", t.orNull(t.text)),
  seq: t.about("The event's number in the run's journal; null where it is of none.", t.orNull(t.integer)),
  status: t.about(
    "`pending` waits for its first attempt. `retrying` has failed, and is tried again. `failed` is not.",
    t.oneOf(deliveryStatuses),
  ),
  attempts_count: AttemptsCount,
  next_attempt_at: t.about("When the next attempt is made; null: never.", t.orNull(t.time)),
};

const DeliveryAttempt = t.named(
  "DeliveryAttempt",
  t.object({
    number: Attempt,
    at: At,
    latency_ms: Duration,
    request: t.about(
      "What was sent.",
      t.named(
        "DeliveryRequest",
        t.object({
          url: t.about("The URL that is called.", t.text),
          headers: t.about("Its headers, by name.", t.withType<Record<string, string>>(t.anyObject)),
        }),
      ),
    ),
    response: t.about(
      "What was received; null where nothing was.",
      t.orNull(
        t.named(
          "DeliveryResponse",
          t.object({
            status: t.about("The HTTP status that your address answered with.", t.integer),
            headers: t.about("Its headers, by name.", t.withType<Record<string, string>>(t.anyObject)),
            body: t.about("The body as it was sent or received.", t.text),
            truncated: t.about("Whether the body was longer.", t.boolean),
          }),
        ),
      ),
    ),
    error: ErrorOrNull,
  }),
);

export const WebhookDeliveryListItem = resource("WebhookDeliveryListItem", "webhook_delivery", delivery);
export type WebhookDeliveryListItem = Static<typeof WebhookDeliveryListItem>;

export const WebhookDelivery = resource("WebhookDelivery", "webhook_delivery", {
  ...delivery,
  body: t.about("What is sent; null where it is not kept any more.", t.orNull(t.text)),
  attempts: t.about("Every attempt, the oldest first.", t.list(DeliveryAttempt)),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookRedelivery = t.named(
  "WebhookRedelivery",
  t.object({
    id: t.about("The id of the webhook whose deliveries are sent again: `whk_…`.", t.text),
    object: objectOf("webhook_redelivery"),
    deliveries: t.about("How many deliveries were queued again.", t.integer),
    ...envelope,
  }),
);

/** Request body for webhook tools. */
export const ToolCallDelivery = t.named(
  "ToolCallDelivery",
  t.object({
    id: t.about("The id of the call; it is the same for every attempt.", t.text),
    object: t.about("Always `tool_call`.", t.word("tool_call")),
    name: ToolName,
    arguments: Arguments,
    run_id: t.about("The run that asks.", t.text),
    callback_url: t.about("Where the result is sent to, after a 202 response.", t.text),
    expires_at: t.about("Until when the result is accepted.", t.time),
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
    ...Type.Partial(
      t.object({
        ...ofRun,
        tool_calls: t.about("The tool calls, in their order.", t.list(t.named("WebhookRunToolCall", t.object(ofCall)))),
      }),
    ).properties,
  }),
);
const asked = told(eventFields["tool.requested"].call.properties);
const WebhookToolCall = t.named(
  "WebhookToolCall",
  t.object({
    id: asked.id,
    tool_id: asked.tool_id,
    name: ToolName,
    type: ToolTypeName,
    arguments: Arguments,
    needs: asked.needs,
    step_index: asked.step_index,
  }),
);

const truncated = t.about("Whether something was left out, since the body would be too long.", t.optional(t.boolean));
const ofRunOnly = t.named(
  "WebhookRunData",
  t.object({
    object: t.about(
      "The run without its messages and its tools' outputs. Of one that is too long, only what it is.",
      WebhookRun,
    ),
    truncated,
  }),
);
const ofFile = t.named(
  "WebhookFileData",
  t.object({ object: t.about("The file as `GET /v1/files/:id` returned it at that moment.", File), truncated }),
);
const ofAlert = t.named(
  "WebhookAlertData",
  t.object({
    object: t.about("The problem that was found or is over.", Alert),
    truncated,
  }),
);
const dataOf = {
  "run.completed": ofRunOnly,
  "run.failed": ofRunOnly,
  "run.requires_action": ofRunOnly,
  "run.paused": ofRunOnly,
  "run.resumed": ofRunOnly,
  "run.steered": ofRunOnly,
  "handoff.completed": ofRunOnly,
  "tool.requested": t.named(
    "WebhookToolCallData",
    t.object({
      object: t.about(
        "The run without its messages and its tools' outputs. Of one that is too long, only what it is.",
        WebhookRun,
      ),
      tool_call: t.about("The call; it is gone when the run's trace is.", t.optional(WebhookToolCall)),
      truncated,
    }),
  ),
  "file.ready": ofFile,
  "file.failed": ofFile,
  "label.rolled_back": t.named(
    "WebhookLabelData",
    t.object({
      object: t.about("The label as it is now, and what it was rolled back from.", RolledBackLabel),
      truncated,
    }),
  ),
  "alert.opened": ofAlert,
  "alert.closed": ofAlert,
  "cell.failover": t.named(
    "WebhookCellData",
    t.object({
      object: t.about("The part of the cluster that another node took over.", Cell),
      truncated,
    }),
  ),
  [testEvent]: t.named("WebhookTestData", t.object({ object: t.about("The webhook itself.", Webhook), truncated })),
} satisfies Record<SentEvent, TSchema>;

const sentEvents = Object.fromEntries(
  Object.entries(dataOf).map(([type, data]) => {
    const isOfRun = data.properties.object.component === WebhookRun.component;
    return [
      type,
      t.named(
        eventName(type, "WebhookEvent"),
        t.object({
          id: t.about("The event's id for this webhook, the same for every attempt.", t.text),
          object: objectOf("event"),
          type: t.about(`Always \`${type}\`: it says what \`data\` is about.`, t.word(type)),
          created_at: CreatedAt,
          project_id: ProjectId,
          environment: Environment,
          run_id: isOfRun ? RunId : t.about("Always null: the event is of no run.", Type.Null()),
          seq: isOfRun
            ? t.about("The event's number in the run's journal.", t.integer)
            : t.about("Always null: the event is of no run.", Type.Null()),
          data: t.about("What the event is about.", data),
        }),
      ),
    ];
  }),
);

/** Request bodies of webhooks. */
export const WebhookEvent = choiceOf("WebhookEvent", "type", sentEvents);

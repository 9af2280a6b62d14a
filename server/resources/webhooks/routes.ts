import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import {
  Webhook,
  WebhookDelivery,
  WebhookDeliveryListItem,
  WebhookRedelivery,
} from "../../domain/api-types/webhook.ts";
import type { Auth } from "../../http/auth.ts";
import { listQuery, plainListQuery, readPage } from "../../http/page.ts";
import { EmptyBody, idOf, pathOf, pathWith } from "../../http/schemas.ts";
import { about } from "../../lib/schema.ts";
import type { DeliveryStore } from "./deliveries.ts";
import { CreateWebhook, deliveryFilters, RedeliverAll, RotateSecret, UpdateWebhook } from "./schema.ts";
import type { WebhookStore } from "./store.ts";

const params = pathOf("webhook");
const deliveryParams = pathWith({
  id: about("The id.", idOf("webhook")),
  delivery_id: about("The id of the delivery.", idOf("delivery")),
});

interface WebhookRoutes {
  auth: Auth;
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
}

export const webhookRoutes = ({ auth, webhooks, deliveries }: WebhookRoutes) =>
  new Elysia({ prefix: "/webhooks", tags: ["Webhooks"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await webhooks.create(principal, body)), {
      operation: {
        id: "webhooks.create",
        summary: "Create a webhook",
        needs: "admin",
        creates: Webhook,
        errors: ["url_not_allowed"],
      },
      body: CreateWebhook,
    })
    .get("/", ({ principal, request }) => webhooks.list(principal, readPage(request.url)), {
      operation: {
        id: "webhooks.list",
        summary: "List webhooks",
        needs: "read",
        query: listQuery,
        returns: listOf(Webhook),
      },
    })
    .get("/:id", ({ principal, params }) => webhooks.get(principal, params.id), {
      operation: {
        id: "webhooks.retrieve",
        summary: "Retrieve a webhook",
        needs: "read",
        returns: Webhook,
      },
      params,
    })
    .patch("/:id", ({ principal, params, body }) => webhooks.update(principal, params.id, body), {
      operation: {
        id: "webhooks.update",
        summary: "Change a webhook, or enable or disable it",
        needs: "admin",
        returns: Webhook,
        errors: ["url_not_allowed"],
      },
      params,
      body: UpdateWebhook,
    })
    .delete("/:id", ({ principal, params }) => webhooks.remove(principal, params.id), {
      operation: {
        id: "webhooks.delete",
        summary: "Delete a webhook",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .post("/:id/test", ({ principal, params }) => deliveries.test(principal, params.id), {
      operation: {
        id: "webhooks.test",
        summary: "Send a test event to a webhook",
        needs: "admin",
        returns: WebhookDelivery,
      },
      params,
      body: EmptyBody,
    })
    .post("/:id/rotate_secret", ({ principal, params, body }) => webhooks.rotate(principal, params.id, body), {
      operation: {
        id: "webhooks.rotate_secret",
        summary: "Rotate the secret of a webhook; until the overlap ends both secrets sign",
        needs: "admin",
        returns: Webhook,
      },
      params,
      body: RotateSecret,
    })
    .post(
      "/:id/redeliver",
      ({ principal, params, body }) => deliveries.redeliverAll(principal, params.id, body.since),
      {
        operation: {
          id: "webhooks.redeliver",
          summary: "Redeliver the failed deliveries since a time",
          needs: "admin",
          returns: WebhookRedelivery,
        },
        params,
        body: RedeliverAll,
      },
    )
    .get(
      "/:id/deliveries",
      ({ principal, params, request }) => deliveries.list(principal, params.id, readPage(request.url, deliveryFilters)),
      {
        operation: {
          id: "webhooks.deliveries.list",
          summary: "List the deliveries of a webhook",
          needs: "read",
          query: { ...plainListQuery, ...deliveryFilters },
          returns: listOf(WebhookDeliveryListItem),
        },
        params,
      },
    )
    .get(
      "/:id/deliveries/:delivery_id",
      ({ principal, params }) => deliveries.get(principal, params.id, params.delivery_id),
      {
        operation: {
          id: "webhooks.deliveries.retrieve",
          summary: "Retrieve a delivery with its attempts",
          needs: "read",
          returns: WebhookDelivery,
        },
        params: deliveryParams,
      },
    )
    .post(
      "/:id/deliveries/:delivery_id/redeliver",
      ({ principal, params }) => deliveries.redeliver(principal, params.id, params.delivery_id),
      {
        operation: {
          id: "webhooks.deliveries.redeliver",
          summary: "Redeliver a delivery",
          needs: "admin",
          returns: WebhookDelivery,
        },
        params: deliveryParams,
        body: EmptyBody,
      },
    );

import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { idOf, pathOf, pathWith } from "../http/schemas.ts";
import type { DeliveryStore } from "./deliveries.ts";
import { CreateWebhook, deliveryFilters, NoBody, RedeliverAll, RotateSecret, UpdateWebhook } from "./schema.ts";
import type { WebhookStore } from "./store.ts";

const params = pathOf("webhook");
const deliveryParams = pathWith({ id: idOf("webhook"), delivery_id: idOf("delivery") });
const ofDeliveries = [...pageParameters.filter((name) => name !== "metadata[*]"), ...Object.keys(deliveryFilters)];

export interface WebhookRoutes {
  auth: Auth;
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
}

export const webhookRoutes = ({ auth, webhooks, deliveries }: WebhookRoutes) =>
  new Elysia({ prefix: "/webhooks" })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await webhooks.create(principal, body)), {
      permission: "admin",
      body: CreateWebhook,
    })
    .get("/", ({ principal, request }) => webhooks.list(principal, readPage(request.url)), {
      permission: { needs: "read", query: pageParameters },
    })
    .get("/:id", ({ principal, params }) => webhooks.get(principal, params.id), { permission: "read", params })
    .patch("/:id", ({ principal, params, body }) => webhooks.update(principal, params.id, body), {
      permission: "admin",
      params,
      body: UpdateWebhook,
    })
    .delete("/:id", ({ principal, params }) => webhooks.remove(principal, params.id), { permission: "admin", params })
    .post("/:id/test", ({ principal, params }) => deliveries.test(principal, params.id), {
      permission: "admin",
      params,
      body: NoBody,
    })
    .post("/:id/rotate_secret", ({ principal, params, body }) => webhooks.rotate(principal, params.id, body), {
      permission: "admin",
      params,
      body: RotateSecret,
    })
    .post(
      "/:id/redeliver",
      ({ principal, params, body }) => deliveries.redeliverAll(principal, params.id, body.since),
      { permission: "admin", params, body: RedeliverAll },
    )
    .get(
      "/:id/deliveries",
      ({ principal, params, request }) => deliveries.list(principal, params.id, readPage(request.url, deliveryFilters)),
      { permission: { needs: "read", query: ofDeliveries }, params },
    )
    .get(
      "/:id/deliveries/:delivery_id",
      ({ principal, params }) => deliveries.get(principal, params.id, params.delivery_id),
      { permission: "read", params: deliveryParams },
    )
    .post(
      "/:id/deliveries/:delivery_id/redeliver",
      ({ principal, params }) => deliveries.redeliver(principal, params.id, params.delivery_id),
      { permission: "admin", params: deliveryParams, body: NoBody },
    );

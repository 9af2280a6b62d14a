import { queryOptions } from "@tanstack/react-query";
import type { CreateWebhook } from "../../../../server/webhooks/schema.ts";
import type { List } from "../../../../server/wire/schema.ts";
import type {
  WebhookDeliveryListItem as Delivery,
  Webhook,
  WebhookDelivery as WholeDelivery,
} from "../../../../server/wire/webhook.ts";
import { get, post, query } from "../../lib/api.ts";
import { type NamedSearch, pageQuery } from "../../lib/page-search.ts";
import { type At, resource } from "../resource/resource.ts";
import type { DeliveriesSearch } from "./read-webhook-search.ts";

/** The answer to a creation or a rotation: the only one with the secret. */
export interface MadeWebhook extends Webhook {
  secret: string;
}

/** One attempt to send an event. */
export type Attempt = WholeDelivery["attempts"][number];

export const webhookApi = resource<Webhook, Webhook, Omit<CreateWebhook, "events"> & { events: string[] }, MadeWebhook>(
  "webhooks",
  ({ url, description }) => `${url} ${description ?? ""}`,
);

const deliveryPath = (delivery: string) => `/deliveries/${encodeURIComponent(delivery)}`;

/** One page of webhooks, newest first, or those that are sought. */
export const webhooksQuery = (at: At, search: NamedSearch) => ({
  ...webhookApi.page(at, search),
  refetchInterval: 10_000,
});

export const webhookQuery = (at: At, id: string) => ({ ...webhookApi.one(at, id), refetchInterval: 5_000 });

/** What a webhook heard, newest first. */
export function deliveriesQuery(at: At, id: string, { status, type, after, before }: DeliveriesSearch) {
  const values = { limit: 50, status, type, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: [...webhookApi.of(at, id).queryKey, "deliveries", values],
    queryFn: ({ signal }) => get<List<Delivery>>(webhookApi.url(at, id, `/deliveries${query(values)}`), signal),
    refetchInterval: 3_000,
  });
}

/** One delivery with its attempts; read again while another one is to come. */
export function deliveryQuery(at: At, id: string, delivery: string) {
  return queryOptions({
    queryKey: [...webhookApi.of(at, id).queryKey, "delivery", delivery],
    queryFn: ({ signal }) => get<WholeDelivery>(webhookApi.url(at, id, deliveryPath(delivery)), signal),
    refetchInterval: ({ state }) => (state.data?.next_attempt_at ? 1_500 : false),
  });
}

export const testWebhook = (at: At, id: string): Promise<WholeDelivery> => post(webhookApi.url(at, id, "/test"));

export const rotateSecret = (at: At, id: string, overlap_seconds: number): Promise<MadeWebhook> =>
  post(webhookApi.url(at, id, "/rotate_secret"), { overlap_seconds });

export const redeliverAll = (at: At, id: string, since: string): Promise<{ deliveries: number }> =>
  post(webhookApi.url(at, id, "/redeliver"), { since });

export const redeliver = (at: At, id: string, delivery: string): Promise<WholeDelivery> =>
  post(webhookApi.url(at, id, `${deliveryPath(delivery)}/redeliver`));

import { queryOptions } from "@tanstack/react-query";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type {
  WebhookDeliveryListItem as Delivery,
  Webhook,
  WebhookDelivery as WholeDelivery,
} from "../../../../server/domain/api-types/webhook.ts";
import type { CreateWebhook } from "../../../../server/resources/webhooks/schema.ts";
import { get, post, query } from "../../lib/api.ts";
import { type NamedSearch, pageQuery } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import type { DeliveriesSearch } from "./read-webhook-search.ts";

/** Response of a creation or rotation, the only one that contains the secret. */
export interface WebhookWithSecret extends Webhook {
  secret: string;
}

/** One delivery attempt. */
export type Attempt = WholeDelivery["attempts"][number];

export const webhookApi = resource<
  Webhook,
  Webhook,
  Omit<CreateWebhook, "events"> & { events: string[] },
  WebhookWithSecret
>("webhooks", ({ url, description }) => `${url} ${description ?? ""}`);

const deliveryPath = (delivery: string) => `/deliveries/${encodeURIComponent(delivery)}`;

/** One page of webhooks, newest first, or the search results. */
export const webhooksQuery = (at: WorkspaceKey, search: NamedSearch) => ({
  ...webhookApi.page(at, search),
  refetchInterval: 10_000,
});

export const webhookQuery = (at: WorkspaceKey, id: string) => ({ ...webhookApi.one(at, id), refetchInterval: 5_000 });

/** Deliveries of a webhook, newest first. */
export function deliveriesQuery(at: WorkspaceKey, id: string, { status, type, after, before }: DeliveriesSearch) {
  const values = { limit: 50, status, type, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: [...webhookApi.of(at, id).queryKey, "deliveries", values],
    queryFn: ({ signal }) => get<List<Delivery>>(webhookApi.url(at, id, `/deliveries${query(values)}`), signal),
    refetchInterval: 3_000,
  });
}

/** One delivery with its attempts; refetched while a retry is scheduled. */
export function deliveryQuery(at: WorkspaceKey, id: string, delivery: string) {
  return queryOptions({
    queryKey: [...webhookApi.of(at, id).queryKey, "delivery", delivery],
    queryFn: ({ signal }) => get<WholeDelivery>(webhookApi.url(at, id, deliveryPath(delivery)), signal),
    refetchInterval: ({ state }) => (state.data?.next_attempt_at ? 1_500 : false),
  });
}

export const testWebhook = (at: WorkspaceKey, id: string): Promise<WholeDelivery> =>
  post(webhookApi.url(at, id, "/test"));

export const rotateSecret = (at: WorkspaceKey, id: string, overlap_seconds: number): Promise<WebhookWithSecret> =>
  post(webhookApi.url(at, id, "/rotate_secret"), { overlap_seconds });

export const redeliverAll = (at: WorkspaceKey, id: string, since: string): Promise<{ deliveries: number }> =>
  post(webhookApi.url(at, id, "/redeliver"), { since });

export const redeliver = (at: WorkspaceKey, id: string, delivery: string): Promise<WholeDelivery> =>
  post(webhookApi.url(at, id, `${deliveryPath(delivery)}/redeliver`));

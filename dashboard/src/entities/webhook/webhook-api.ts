import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, query, remove, resourceUrl } from "../../lib/api.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { DeliveriesSearch } from "./read-webhook-search.ts";

export interface Webhook {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  status: "active" | "failing" | "disabled";
  disabled_reason: "requested" | "gone" | "failing" | null;
  secret_prefix: string;
  previous_secret_expires_at: string | null;
  last_delivery_at: string | null;
  failure_count: number;
  created_at: string;
}

/** The answer to a creation or a rotation: the only one with the secret. */
export interface MadeWebhook extends Webhook {
  secret: string;
}

export interface WebhookOrder {
  url: string;
  events: string[];
  description: string | null;
}

export interface Delivery {
  id: string;
  webhook_id: string;
  event_id: string;
  type: string;
  run_id: string | null;
  seq: number | null;
  status: "pending" | "delivered" | "failed";
  attempts_count: number;
  next_attempt_at: string | null;
  created_at: string;
}

/** One attempt to send an event. */
export interface Attempt {
  number: number;
  at: string;
  latency_ms: number;
  request: { url: string; headers: Record<string, string> };
  response: { status: number; headers: Record<string, string>; body: string; truncated: boolean } | null;
  error: { code: string; message: string } | null;
}

export interface WholeDelivery extends Delivery {
  body: string | null;
  attempts: Attempt[];
}

type At = Pick<Workspace, "projectId" | "mode">;

const webhookUrl = (at: At, id: string): string => resourceUrl(at, `/webhooks/${encodeURIComponent(id)}`);

const deliveryUrl = (at: At, id: string, delivery: string): string =>
  `${webhookUrl(at, id)}/deliveries/${encodeURIComponent(delivery)}`;

/** One page of webhooks, newest first. */
export function webhooksQuery(at: At, search: PageSearch) {
  return queryOptions({
    queryKey: ["webhooks", at.projectId, at.mode, search],
    queryFn: ({ signal }) =>
      get<List<Webhook>>(resourceUrl(at, `/webhooks${query({ limit: 50, ...pageQuery(search) })}`), signal),
    refetchInterval: 10_000,
  });
}

export function webhookQuery(at: At, id: string) {
  return queryOptions({
    queryKey: ["webhook", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Webhook>(webhookUrl(at, id), signal),
    refetchInterval: 5_000,
  });
}

/** What a webhook heard, newest first. */
export function deliveriesQuery(at: At, id: string, { status, type, after, before }: DeliveriesSearch) {
  const values = { limit: 50, status, type, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: ["deliveries", at.projectId, at.mode, id, values],
    queryFn: ({ signal }) => get<List<Delivery>>(`${webhookUrl(at, id)}/deliveries${query(values)}`, signal),
    refetchInterval: 3_000,
  });
}

/** One delivery with its attempts; read again while another one is to come. */
export function deliveryQuery(at: At, id: string, delivery: string) {
  return queryOptions({
    queryKey: ["delivery", at.projectId, at.mode, id, delivery],
    queryFn: ({ signal }) => get<WholeDelivery>(deliveryUrl(at, id, delivery), signal),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? 1_500 : false),
  });
}

export const createWebhook = (at: At, order: WebhookOrder): Promise<MadeWebhook> =>
  post(resourceUrl(at, "/webhooks"), order);

export const changeWebhook = (
  at: At,
  id: string,
  change: Partial<WebhookOrder> & { enabled?: boolean },
): Promise<Webhook> => patch(webhookUrl(at, id), change);

export const deleteWebhook = (at: At, id: string): Promise<unknown> => remove(webhookUrl(at, id));

export const testWebhook = (at: At, id: string): Promise<WholeDelivery> => post(`${webhookUrl(at, id)}/test`);

export const rotateSecret = (at: At, id: string, overlap_seconds: number): Promise<MadeWebhook> =>
  post(`${webhookUrl(at, id)}/rotate_secret`, { overlap_seconds });

export const redeliverAll = (at: At, id: string, since: string): Promise<{ deliveries: number }> =>
  post(`${webhookUrl(at, id)}/redeliver`, { since });

export const redeliver = (at: At, id: string, delivery: string): Promise<WholeDelivery> =>
  post(`${deliveryUrl(at, id, delivery)}/redeliver`);

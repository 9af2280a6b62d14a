import { queryOptions } from "@tanstack/react-query";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { Trigger, TriggerDelivery } from "../../../../server/domain/api-types/trigger.ts";
import type { CreateTrigger, RotateTriggerSecret } from "../../../../server/resources/triggers/schema.ts";
import { get, post, query } from "../../lib/api.ts";
import { type NamedSearch, pageQuery } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import type { TriggerSearch } from "./read-trigger-search.ts";

export const triggerApi = resource<Trigger, Trigger, CreateTrigger>("triggers", ({ name }) => name);

/** One page of triggers, newest first, or the search results. */
export const triggersQuery = (at: WorkspaceKey, search: NamedSearch) => ({
  ...triggerApi.page(at, search),
  refetchInterval: 10_000,
});

export const triggerQuery = (at: WorkspaceKey, id: string) => ({ ...triggerApi.one(at, id), refetchInterval: 5_000 });

/** Requests at a trigger's address, newest first. */
export function triggerDeliveriesQuery(at: WorkspaceKey, id: string, { outcome, after, before }: TriggerSearch) {
  const values = { limit: 50, outcome, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: [...triggerApi.of(at, id).queryKey, "deliveries", values],
    queryFn: ({ signal }) => get<List<TriggerDelivery>>(triggerApi.url(at, id, `/deliveries${query(values)}`), signal),
    refetchInterval: 3_000,
  });
}

export const rotateTriggerSecret = (at: WorkspaceKey, id: string, body: RotateTriggerSecret): Promise<Trigger> =>
  post(triggerApi.url(at, id, "/rotate_secret"), body);

import { queryOptions } from "@tanstack/react-query";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { Agent, AgentVersion, AgentListItem as ListedAgent } from "../../../../server/resources/agents/schema.ts";
import { get, query } from "../../lib/api.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";

export const agentApi = resource<Agent, ListedAgent>("agents", ({ name }) => name);

/** Newest agents, used to resolve names. */
export function newestAgentsQuery(at: WorkspaceKey) {
  return queryOptions({
    queryKey: agentApi.key(at, "newest"),
    queryFn: ({ signal }) => get<List<ListedAgent>>(agentApi.url(at) + query({ limit: 100 }), signal),
    staleTime: 60_000,
  });
}

/** Newest hundred versions of an agent. */
export function versionsQuery(at: WorkspaceKey, id: string) {
  return queryOptions({
    queryKey: [...agentApi.of(at, id).queryKey, "versions"],
    queryFn: ({ signal }) => get<List<AgentVersion>>(agentApi.url(at, id, `/versions${query({ limit: 100 })}`), signal),
  });
}

/** One full version; it never changes. */
export function versionQuery(at: WorkspaceKey, id: string, version: number) {
  return queryOptions({
    queryKey: [...agentApi.of(at, id).queryKey, "version", version],
    queryFn: ({ signal }) => get<AgentVersion>(agentApi.url(at, id, `/versions/${version}`), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

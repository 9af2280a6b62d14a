import { queryOptions } from "@tanstack/react-query";
import type { Agent, AgentVersion, AgentListItem as ListedAgent } from "../../../../server/agents/schema.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { get, query } from "../../lib/api.ts";
import { type At, resource } from "../resource/resource.ts";

export const agentApi = resource<Agent, ListedAgent>("agents", ({ name }) => name);

/** The newest agents, for their names. */
export function newestAgentsQuery(at: At) {
  return queryOptions({
    queryKey: agentApi.key(at, "newest"),
    queryFn: ({ signal }) => get<List<ListedAgent>>(agentApi.url(at) + query({ limit: 100 }), signal),
    staleTime: 60_000,
  });
}

/** The newest hundred versions of an agent. */
export function versionsQuery(at: At, id: string) {
  return queryOptions({
    queryKey: [...agentApi.of(at, id).queryKey, "versions"],
    queryFn: ({ signal }) => get<List<AgentVersion>>(agentApi.url(at, id, `/versions${query({ limit: 100 })}`), signal),
  });
}

/** One version, with all that it says. It never changes. */
export function versionQuery(at: At, id: string, version: number) {
  return queryOptions({
    queryKey: [...agentApi.of(at, id).queryKey, "version", version],
    queryFn: ({ signal }) => get<AgentVersion>(agentApi.url(at, id, `/versions/${version}`), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

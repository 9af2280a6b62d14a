import { queryOptions } from "@tanstack/react-query";
import type { Agent, AgentVersion, AgentListItem as ListedAgent } from "../../../../server/agents/schema.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { get, query } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { type At, resource } from "../resource/resource.ts";

/** What the address of the list holds. */
export interface AgentsSearch extends PageSearch {
  /** Part of a name. */
  q?: string;
}

export const agentApi = resource<Agent, ListedAgent>("agents");

/** A page of agents, or of those with a text in their name: the API does not search, so all of them are read. */
export function agentsQuery(at: At, { q, ...page }: AgentsSearch) {
  if (!q) return agentApi.page(at, page);
  return queryOptions({
    queryKey: agentApi.key(at, "page", "all"),
    queryFn: async ({ signal }): Promise<List<ListedAgent>> => {
      const data = await getAll<ListedAgent>(at, "/agents", {}, signal);
      return { object: "list", data, has_more: false, first_id: null, last_id: null, request_id: "" };
    },
  });
}

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

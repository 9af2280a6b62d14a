import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import type { AuditEntry } from "../../../../server/domain/api-types/audit.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import type { WorkspaceKey } from "../crud/resource.ts";
import { agentApi, newestAgentsQuery } from "./agent-api.ts";

/** Returns an agent's name; for a deleted agent the last name, marked as such; "…" while loading. */
export const useAgentName = (id: string): string => useAgentNames([id])[0]!;

/** Returns the names of several agents. */
export function useAgentNames(ids: readonly string[]): string[] {
  const at = useWorkspace();
  const { data: newest, isPending } = useQuery(newestAgentsQuery(at));
  const nameById = new Map(newest?.data.map(({ id, name }) => [id, name]));
  const isBeyond = (id: string) => newest?.has_more || !newest?.first_id || id > newest.first_id;
  const unlisted = useQueries({
    queries: ids.map((id) => ({
      ...unlistedNameQuery(at, id, Boolean(newest && isBeyond(id))),
      enabled: Boolean(id && newest && !nameById.has(id)),
    })),
  });
  return ids.map((id, index) => {
    const { data, isLoading } = unlisted[index]!;
    return nameById.get(id) ?? data ?? (isPending || isLoading ? "…" : id);
  });
}

/**
 * Name of an agent that is not among the newest. A deleted agent's name comes from the audit log, which keeps it for a
 * year. Not fetched if the agent cannot exist here, as in an imported run.
 */
const unlistedNameQuery = (at: WorkspaceKey, id: string, mayBeThere: boolean) =>
  queryOptions({
    queryKey: agentApi.key(at, "name", id, mayBeThere),
    queryFn: async ({ signal }) => {
      const deletion = query({ limit: 1, action: "agent.deleted", target_id: id });
      const { data } = await get<List<AuditEntry>>(resourceUrl(at, `/audit_log${deletion}`), signal);
      if (data[0]) return `${data[0].details.name} (deleted)`;
      return mayBeThere ? (await get<Agent>(agentApi.url(at, id), signal)).name : id;
    },
    staleTime: 60_000,
    retry: false,
  });

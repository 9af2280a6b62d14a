import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import type { Agent } from "../../../../server/agents/schema.ts";
import type { AuditEntry } from "../../../../server/wire/audit.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import type { At } from "../resource/resource.ts";
import { agentApi, newestAgentsQuery } from "./agent-api.ts";

/** An agent's name; the last one, marked, when the agent was deleted. Dots stand for it while it is on its way. */
export const useAgentName = (id: string): string => useAgentNames([id])[0]!;

/** The names of several agents. */
export function useAgentNames(ids: readonly string[]): string[] {
  const at = useWorkspace();
  const { data: newest, isPending } = useQuery(newestAgentsQuery(at));
  const listed = new Map(newest?.data.map(({ id, name }) => [id, name]));
  const isBeyond = (id: string) => newest?.has_more || !newest?.first_id || id > newest.first_id;
  const unlisted = useQueries({
    queries: ids.map((id) => ({
      ...unlistedNameQuery(at, id, Boolean(newest && isBeyond(id))),
      enabled: Boolean(id && newest && !listed.has(id)),
    })),
  });
  return ids.map((id, index) => {
    const { data, isLoading } = unlisted[index]!;
    return listed.get(id) ?? data ?? (isPending || isLoading ? "…" : id);
  });
}

/**
 * The name of an agent that is not among the newest. The audit log keeps that of a deleted one for a year. Only one that
 * may be there is asked for: an imported run names an agent of another server.
 */
const unlistedNameQuery = (at: At, id: string, mayBeThere: boolean) =>
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

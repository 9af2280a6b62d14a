import { queryOptions, useQuery } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { Agent, List } from "../../lib/types.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";

/** An agent's name; its id when the agent was deleted. Dots stand for it while it is on its way. */
export function useAgentName(id: string): string {
  const at = useWorkspace();
  const { data: agents, isPending } = useQuery(newestAgentsQuery(at));
  const listed = agents?.data.find((agent) => agent.id === id);
  // Not listed is either beyond the list, at one of its ends, or deleted: asking for a deleted one helps nobody.
  const isNewer = !agents?.first_id || id > agents.first_id;
  const isBeyond = Boolean(id && agents && !listed && (agents.has_more || isNewer));
  const single = useQuery({ ...agentQuery(at, id), enabled: isBeyond });
  return listed?.name ?? single.data?.name ?? (isPending || single.isLoading ? "…" : id);
}

/** The names of several agents: of those beyond the newest, their ids. */
export function useAgentNames(ids: readonly string[]): string[] {
  const { data: agents } = useQuery(newestAgentsQuery(useWorkspace()));
  return ids.map((id) => agents?.data.find((agent) => agent.id === id)?.name ?? (agents ? id : "…"));
}

/** The newest agents, for their names. */
export function newestAgentsQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["agents", at.projectId, at.mode],
    queryFn: ({ signal }) => get<List<Agent>>(resourceUrl(at, `/agents${query({ limit: 100 })}`), signal),
    staleTime: 60_000,
  });
}

/** One agent, for those that the list does not hold. */
export function agentQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["agent", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Agent>(resourceUrl(at, `/agents/${encodeURIComponent(id)}`), signal),
    staleTime: 60_000,
    retry: false,
  });
}

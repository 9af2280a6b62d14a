import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import { agentApi, newestAgentsQuery } from "./agent-api.ts";

/** An agent's name; its id when the agent was deleted. Dots stand for it while it is on its way. */
export function useAgentName(id: string): string {
  const at = useWorkspace();
  const { data: newest, isPending } = useQuery(newestAgentsQuery(at));
  const listed = newest?.data.find((agent) => agent.id === id);
  // Not listed is either beyond the list, at one of its ends, or deleted: asking for a deleted one helps nobody.
  const isNewer = !newest?.first_id || id > newest.first_id;
  const isBeyond = Boolean(id && newest && !listed && (newest.has_more || isNewer));
  const single = useQuery({ ...agentApi.one(at, id), staleTime: 60_000, enabled: isBeyond });
  return listed?.name ?? single.data?.name ?? (isPending || single.isLoading ? "…" : id);
}

/** The names of several agents: of those beyond the newest, their ids. */
export function useAgentNames(ids: readonly string[]): string[] {
  const { data: newest } = useQuery(newestAgentsQuery(useWorkspace()));
  return ids.map((id) => newest?.data.find((agent) => agent.id === id)?.name ?? (newest ? id : "…"));
}

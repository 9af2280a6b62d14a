import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import { agentQuery, agentsQuery } from "./runs-api.ts";

/** An agent's name; its id while the name is on its way, and when the agent was deleted. */
export function useAgentName(id: string): string {
  const at = useWorkspace();
  const { data: agents } = useQuery(agentsQuery(at));
  const listed = agents?.data.find((agent) => agent.id === id);
  // Not listed is either beyond the list, at one of its ends, or deleted: asking for a deleted one helps nobody.
  const isNewer = !agents?.first_id || id > agents.first_id;
  const isBeyond = Boolean(agents && !listed && (agents.has_more || isNewer));
  const single = useQuery({ ...agentQuery(at, id), enabled: isBeyond });
  return listed?.name ?? single.data?.name ?? id;
}

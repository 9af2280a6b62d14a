import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import { newestAgentsQuery } from "../agent/agent-api.ts";
import { keysQuery } from "../key/key-api.ts";

/** What a series of a grouping is called: agents and keys by their names, and the rest as it is. */
export function useNameOf(group_by: "model" | "agent" | "key" | "user"): (name: string) => string {
  const at = useWorkspace();
  const agents = useQuery({ ...newestAgentsQuery(at), enabled: group_by === "agent" });
  const keys = useQuery({ ...keysQuery(at), enabled: group_by === "key", refetchInterval: false });
  const named = group_by === "agent" ? agents.data?.data : group_by === "key" ? keys.data?.keys : undefined;
  const names = new Map(named?.map(({ id, name }) => [id, name]));
  return (name) => names.get(name) ?? (name || "Others");
}

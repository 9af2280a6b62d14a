import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import { newestAgentsQuery } from "./agent-api.ts";
import { useAgentName } from "./use-agent-name.ts";

/** Returns agents to choose from, always including the chosen one. */
export function useAgentChoices(chosen: string): { value: string; label: string }[] {
  const at = useWorkspace();
  const { data } = useQuery(newestAgentsQuery(at));
  const name = useAgentName(chosen);
  const known = (data?.data ?? []).map(({ id, name: label }) => ({ value: id, label }));
  return chosen && !known.some(({ value }) => value === chosen) ? [{ value: chosen, label: name }, ...known] : known;
}

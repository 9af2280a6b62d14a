import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import { useAgentNames } from "../agent/use-agent-name.ts";
import { keysQuery } from "../key/key-api.ts";
import type { StackedSeries } from "./stacks.ts";

/** Replaces the ids of agents and keys in the parts with their names. */
export function useSeriesNames(group_by: "model" | "agent" | "key" | "user", stacked: StackedSeries | undefined) {
  const at = useWorkspace();
  const ids = stacked?.parts.map(({ id }) => id ?? "") ?? [];
  const agents = useAgentNames(group_by === "agent" ? ids : []);
  const keys = useQuery({ ...keysQuery(at), enabled: group_by === "key", refetchInterval: false });
  const nameOf = (id: string, index: number) =>
    group_by === "agent" ? agents[index] : keys.data?.keys.find((key) => key.id === id)?.name;
  return (
    stacked && {
      ...stacked,
      parts: stacked.parts.map((part, index) =>
        part.id === undefined ? part : { ...part, name: nameOf(part.id, index) || part.name },
      ),
    }
  );
}

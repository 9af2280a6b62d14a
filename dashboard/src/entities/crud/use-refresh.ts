import { useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import type { WorkspaceKey } from "./resource.ts";

/** Returns a function that refetches everything of one resource type. */
export function useRefresh(api: { all: (at: WorkspaceKey) => { queryKey: unknown[] } }): () => Promise<void> {
  const client = useQueryClient();
  const at = useWorkspace();
  return () => client.invalidateQueries(api.all(at));
}

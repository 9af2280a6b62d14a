import { useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import type { At } from "./resource.ts";

/** Reads all that tells of one kind of thing anew. */
export function useRefresh(api: { all: (at: At) => { queryKey: unknown[] } }): () => Promise<void> {
  const client = useQueryClient();
  const at = useWorkspace();
  return () => client.invalidateQueries(api.all(at));
}

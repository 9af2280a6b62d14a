import { queryOptions } from "@tanstack/react-query";
import { ApiError, get, resourceUrl } from "../../lib/api.ts";
import type { Workspace } from "../../lib/workspace.ts";

/** The run that a request began, or that asked for a tool call; null where there is none. */
export function runOfQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["run-of", at.projectId, at.mode, id],
    queryFn: async ({ signal }) => {
      try {
        const found = await get<{ id: string }>(resourceUrl(at, `/runs/of/${encodeURIComponent(id)}`), signal);
        return found.id;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: 10_000,
    retry: false,
  });
}

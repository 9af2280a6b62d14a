import { queryOptions } from "@tanstack/react-query";
import { getAll } from "../../lib/get-all.ts";
import type { Workspace } from "../../lib/workspace.ts";

/** What a tool is called and takes. */
interface ToolSchema {
  id: string;
  name: string;
  parameters: unknown;
}

/** All tools that agents could have. `T`: as far as somebody shows them. */
export function allToolsQuery<T extends ToolSchema = ToolSchema>(at: Pick<Workspace, "projectId" | "mode">) {
  return queryOptions({
    queryKey: ["tools", at.projectId, at.mode, "all"],
    queryFn: ({ signal }) => getAll<T>(at, "/tools", {}, signal),
    staleTime: 60_000,
  });
}

import { queryOptions, useQuery } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { List, Run } from "../../lib/types.ts";
import { wholeOf } from "../../lib/whole-of.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { allToolsQuery } from "../tool/all-tools.ts";
import type { FullAgent, Model, Tool } from "./playground-types.ts";

type At = Pick<Workspace, "projectId" | "mode">;

/** One agent, whole. */
export function fullAgentQuery(at: At, id: string) {
  return queryOptions({
    queryKey: ["agent", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<FullAgent>(resourceUrl(at, `/agents/${encodeURIComponent(id)}`), signal),
    retry: false,
  });
}

/** The models that agents may use now. */
export function modelsQuery(at: At) {
  return queryOptions({
    queryKey: ["models", at.projectId, at.mode],
    queryFn: ({ signal }) => get<{ data: Model[] }>(resourceUrl(at, "/models"), signal),
    staleTime: 60_000,
  });
}

/** All tools that agents could have. */
export const toolsQuery = (at: At) => allToolsQuery<Tool>(at);

/** Where a run is kept: its lane reads it, whenever an event tells of a change. */
export const runKey = (at: At, id: string) => ["run", at.projectId, at.mode, id];

/** A run as its lane has read it, for what it waits for and what it came to. */
export function useHeldRun(id: string | null): Run | undefined {
  return useQuery<Run>({ queryKey: runKey(useWorkspace(), id ?? ""), enabled: false }).data;
}

/** The newest runs of a thread, oldest first. A thread that is not there is refused: a list of its runs is only empty. */
export async function runsOfThread(at: At, threadId: string, signal: AbortSignal): Promise<Run[]> {
  const [page] = await Promise.all([
    get<List<Run>>(resourceUrl(at, `/runs${query({ thread_id: threadId, limit: 20 })}`), signal),
    get(resourceUrl(at, `/threads/${encodeURIComponent(threadId)}`), signal),
  ]);
  const runs = page.data.map((run) => wholeOf(run, resourceUrl(at, `/runs/${run.id}`), signal));
  return (await Promise.all(runs)).reverse();
}

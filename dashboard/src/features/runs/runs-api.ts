import { queryOptions } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { Agent, List, Run, RunStatus } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";

export const pageSize = 50;

/** What the address of the list holds. */
export interface RunsSearch {
  status?: RunStatus;
  /** The run after which the page begins. */
  after?: string;
  /** The run before which the page ends. */
  before?: string;
}

/** One page of runs, newest first. */
export function runsQuery(at: Workspace, search: RunsSearch) {
  return queryOptions({
    queryKey: ["runs", at.projectId, at.mode, search],
    queryFn: ({ signal }) => fetchRuns(at, search, signal),
  });
}

/** The page itself, past any cache. */
export function fetchRuns(at: Workspace, search: RunsSearch, signal?: AbortSignal): Promise<List<Run>> {
  const { status, after, before } = search;
  const path = `/runs${query({ limit: pageSize, status, starting_after: after, ending_before: before })}`;
  return get<List<Run>>(resourceUrl(at, path), signal);
}

/** One run. */
export function runQuery(at: Pick<Workspace, "projectId" | "mode">, id: string) {
  return queryOptions({
    queryKey: ["run", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Run>(resourceUrl(at, `/runs/${encodeURIComponent(id)}`), signal),
  });
}

/** The newest agents, for their names. */
export function agentsQuery(at: Workspace) {
  return queryOptions({
    queryKey: ["agents", at.projectId, at.mode],
    queryFn: ({ signal }) => get<List<Agent>>(resourceUrl(at, `/agents${query({ limit: 100 })}`), signal),
    staleTime: 60_000,
  });
}

/** One agent, for those that the list does not hold. */
export function agentQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: ["agent", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Agent>(resourceUrl(at, `/agents/${encodeURIComponent(id)}`), signal),
    staleTime: 60_000,
    retry: false,
  });
}

import { queryOptions } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import { pageQuery } from "../../lib/page-search.ts";
import type { List, Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import { type RunsSearch, runsParameters } from "./runs-search.ts";

export const pageSize = 50;

/** One page of runs, newest first. */
export function runsQuery(at: Workspace, search: RunsSearch) {
  return queryOptions({
    queryKey: ["runs", at.projectId, at.mode, search],
    queryFn: ({ signal }) => fetchRuns(at, search, signal),
  });
}

/** The page itself, past any cache. */
export function fetchRuns(at: Workspace, search: RunsSearch, signal?: AbortSignal): Promise<List<Run>> {
  const path = `/runs${query({ limit: pageSize, ...runsParameters(search, Date.now()), ...pageQuery(search) })}`;
  return get<List<Run>>(resourceUrl(at, path), signal);
}

/** One run. */
export function runQuery(at: Pick<Workspace, "projectId" | "mode">, id: string) {
  return queryOptions({
    queryKey: ["run", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Run>(resourceUrl(at, `/runs/${encodeURIComponent(id)}`), signal),
  });
}

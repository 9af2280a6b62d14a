import { queryOptions } from "@tanstack/react-query";
import type { AnyRun as Run, RunCount } from "../../../../server/domain/api-types/run.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { ApiError, get, query } from "../../lib/api.ts";
import { pageQuery } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import { filtersOf, type RunsSearch, runsParameters } from "./runs-search.ts";

export const runApi = resource<Run>("runs");
/** One run without messages and calls: the trace has them, and in a long run they are megabytes. */
export function runQuery(at: WorkspaceKey, id: string) {
  return queryOptions({
    ...runApi.of(at, id),
    queryFn: ({ signal }) => get<Run>(runApi.url(at, id, "?exclude=messages,tool_calls"), signal),
  });
}

export const pageSize = 50;

/** One page of runs. While another page of the same workspace loads, the previous one stays visible. */
export function runsQuery(at: WorkspaceKey, search: RunsSearch) {
  const queryKey = runApi.key(at, "page", search);
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) => fetchRuns(at, search, signal),
    placeholderData: (before, query) =>
      query?.queryKey.slice(0, -1).join() === queryKey.slice(0, -1).join() ? before : undefined,
  });
}

/** Number of runs that match the filters, up to the server's limit. */
export function runCountQuery(at: WorkspaceKey, search: RunsSearch) {
  const filters = filtersOf(search);
  return queryOptions({
    queryKey: runApi.key(at, "count", filters),
    queryFn: ({ signal }) =>
      get<RunCount>(runApi.url(at, "count") + query(runsParameters(filters, Date.now())), signal),
  });
}

/** Download address of all runs that match. */
export const runExportUrl = (at: WorkspaceKey, search: RunsSearch, format: "jsonl" | "csv"): string =>
  runApi.url(at, "export") + query({ ...runsParameters(filtersOf(search), Date.now()), format });

/** Fetches a page of runs, bypassing the cache. */
export function fetchRuns(at: WorkspaceKey, search: RunsSearch, signal?: AbortSignal): Promise<List<Run>> {
  const values = { limit: pageSize, ...runsParameters(search, Date.now()), ...pageQuery(search) };
  return get<List<Run>>(runApi.url(at) + query(values), signal);
}

/** Newest runs for the given API parameters. */
export function newestRunsQuery(at: WorkspaceKey, values: Record<string, string | number>) {
  return queryOptions({
    queryKey: runApi.key(at, "newest", values),
    queryFn: ({ signal }) => get<List<Run>>(runApi.url(at) + query(values), signal),
  });
}

/** Newest runs of an agent. */
export const agentRunsQuery = (at: WorkspaceKey, agent_id: string) => newestRunsQuery(at, { agent_id, limit: 20 });

/** Run of a request id or tool call id; null if there is none. */
export function runOfQuery(at: WorkspaceKey, id: string) {
  return queryOptions({
    queryKey: runApi.key(at, "of", id),
    queryFn: async ({ signal }) => {
      try {
        return (await get<{ id: string }>(runApi.url(at, "of", `/${encodeURIComponent(id)}`), signal)).id;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: 10_000,
    retry: false,
  });
}

/** Body that repeats a run. Without its thread, which has changed since. */
export function sameRun(run: Run & { session_id?: string | null; file_ids?: string[] }) {
  const { agent_id, input, user_id, session_id, file_ids } = run;
  return {
    agent_id,
    input,
    ...(user_id && { user_id }),
    ...(session_id && { session_id }),
    ...(file_ids?.length && { file_ids }),
  };
}

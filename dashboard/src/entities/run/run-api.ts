import { queryOptions } from "@tanstack/react-query";
import type { AnyRun as Run, RunCount } from "../../../../server/wire/run.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { ApiError, get, query } from "../../lib/api.ts";
import { pageQuery } from "../../lib/page-search.ts";
import { type At, resource } from "../resource/resource.ts";
import { filtersOf, type RunsSearch, runsParameters } from "./runs-search.ts";

export const runApi = resource<Run>("runs");
/** One run, without what was said and called in it: its trace has that, and of a long run it is megabytes. */
export function runQuery(at: At, id: string) {
  return queryOptions({
    ...runApi.of(at, id),
    queryFn: ({ signal }) => get<Run>(runApi.url(at, id, "?exclude=messages,tool_calls"), signal),
  });
}

export const pageSize = 50;

/** One page of runs. While another page of the same project and mode is read, the one before stands. */
export function runsQuery(at: At, search: RunsSearch) {
  const queryKey = runApi.key(at, "page", search);
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) => fetchRuns(at, search, signal),
    placeholderData: (before, query) =>
      query?.queryKey.slice(0, -1).join() === queryKey.slice(0, -1).join() ? before : undefined,
  });
}

/** How many runs a list has, whatever its page; as far as the server counts. */
export function runCountQuery(at: At, search: RunsSearch) {
  const filters = filtersOf(search);
  return queryOptions({
    queryKey: runApi.key(at, "count", filters),
    queryFn: ({ signal }) =>
      get<RunCount>(runApi.url(at, "count") + query(runsParameters(filters, Date.now())), signal),
  });
}

/** Where all runs of a list are downloaded. */
export const runExportUrl = (at: At, search: RunsSearch, format: "jsonl" | "csv"): string =>
  runApi.url(at, "export") + query({ ...runsParameters(filtersOf(search), Date.now()), format });

/** The page itself, past any cache. */
export function fetchRuns(at: At, search: RunsSearch, signal?: AbortSignal): Promise<List<Run>> {
  const values = { limit: pageSize, ...runsParameters(search, Date.now()), ...pageQuery(search) };
  return get<List<Run>>(runApi.url(at) + query(values), signal);
}

/** The newest runs, by parameters of the API. */
export function newestRunsQuery(at: At, values: Record<string, string | number>) {
  return queryOptions({
    queryKey: runApi.key(at, "newest", values),
    queryFn: ({ signal }) => get<List<Run>>(runApi.url(at) + query(values), signal),
  });
}

/** The newest runs of an agent. */
export const agentRunsQuery = (at: At, agent_id: string) => newestRunsQuery(at, { agent_id, limit: 20 });

/** The run that a request began, or that asked for a tool call; null where there is none. */
export function runOfQuery(at: At, id: string) {
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

/** What makes the same run once more: outside of any thread, since what was said there has gone on. */
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

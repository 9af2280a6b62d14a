import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, query, remove, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List, Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { ListedSuite, Live, Suite, SuiteRun, SuiteRunWithCases, SuiteWithCases } from "./suite-types.ts";

type At = Pick<Workspace, "projectId" | "mode">;

const workingMs = 1000;
const restingMs = 10_000;

const suiteUrl = (at: At, id: string, rest = ""): string => resourceUrl(at, `/suites/${encodeURIComponent(id)}${rest}`);

/** One page of suites, newest first, each with what last came of it. */
export function suitesQuery(at: At, search: PageSearch) {
  return queryOptions({
    queryKey: ["suites", at.projectId, at.mode, search],
    queryFn: ({ signal }) =>
      get<List<ListedSuite>>(resourceUrl(at, `/suites${query({ limit: 50, ...pageQuery(search) })}`), signal),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ last_suite_run }) => last_suite_run && isGoing(last_suite_run))
        ? 2 * workingMs
        : restingMs,
  });
}

/** All suites, to choose one of them. */
export function allSuitesQuery(at: At) {
  return queryOptions({
    queryKey: ["suites", at.projectId, at.mode, "all"],
    queryFn: ({ signal }) => getAll<Suite>(at, "/suites", {}, signal),
  });
}

export function suiteQuery(at: At, id: string) {
  return queryOptions({
    queryKey: ["suite", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<SuiteWithCases>(suiteUrl(at, id), signal),
  });
}

/** What came of a suite so far, newest first: all that the server remembers of it. */
export function suiteRunsQuery(at: At, id: string) {
  return queryOptions({
    queryKey: ["suite-runs", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<List<SuiteRun>>(suiteUrl(at, id, "/runs?limit=50"), signal),
    refetchInterval: ({ state }) => (state.data?.data.some(isGoing) ? workingMs : restingMs),
  });
}

/** One suite run with its cases; read again while it goes on. */
export function suiteRunQuery(at: At, id: string, suiteRunId: string) {
  return queryOptions({
    queryKey: ["suite-run", at.projectId, at.mode, suiteRunId],
    queryFn: ({ signal }) =>
      get<SuiteRunWithCases>(suiteUrl(at, id, `/runs/${encodeURIComponent(suiteRunId)}`), signal),
    refetchInterval: ({ state }) => (state.data && isGoing(state.data) ? workingMs : false),
    retry: false,
  });
}

const isGoing = ({ status }: SuiteRun): boolean => status === "in_progress";

/** The newest runs, to choose cases of. */
export function newestRunsQuery(at: At) {
  return queryOptions({
    queryKey: ["runs", at.projectId, at.mode, "to pin"],
    queryFn: ({ signal }) => get<List<Run>>(resourceUrl(at, `/runs${query({ limit: 100 })}`), signal),
  });
}

interface SuiteOrder {
  name: string;
  run_ids: string[];
  description?: string | null;
}

export const createSuite = (at: At, order: SuiteOrder): Promise<SuiteWithCases> =>
  post(resourceUrl(at, "/suites"), order);

/** In place of all its runs, those that come and go: others may change the suite meanwhile. */
type SuiteChange = Partial<SuiteOrder> | { add_run_ids: readonly string[] } | { remove_run_ids: readonly string[] };

export const changeSuite = (at: At, id: string, change: SuiteChange): Promise<SuiteWithCases> =>
  patch(suiteUrl(at, id), change);

export const deleteSuite = (at: At, id: string): Promise<unknown> => remove(suiteUrl(at, id));

export const startSuiteRun = (at: At, id: string, body: { live?: Live }): Promise<SuiteRunWithCases> =>
  post(suiteUrl(at, id, "/runs"), body);

export const cancelSuiteRun = (at: At, id: string, suiteRunId: string): Promise<SuiteRunWithCases> =>
  post(suiteUrl(at, id, `/runs/${encodeURIComponent(suiteRunId)}/cancel`));

/** Puts runs into a suite, behind those that it has. */
export const addCases = (at: At, id: string, runIds: readonly string[]): Promise<SuiteWithCases> =>
  changeSuite(at, id, { add_run_ids: runIds });

/** Takes a run out of a suite. */
export const removeCase = (at: At, id: string, runId: string): Promise<SuiteWithCases> =>
  changeSuite(at, id, { remove_run_ids: [runId] });

import { queryOptions } from "@tanstack/react-query";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type {
  SuiteListItem as ListedSuite,
  SuiteCase,
  SuiteListItem,
  SuiteRunListItem as SuiteRun,
  SuiteRun as SuiteRunWithCases,
  Suite as SuiteWithCases,
} from "../../../../server/domain/api-types/suite.ts";
import type { Live } from "../../../../server/services/evals/schema.ts";
import { get, post } from "../../lib/api.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";

const activePollMs = 1000;
const idlePollMs = 10_000;

interface SuiteOrder {
  name: string;
  run_ids: string[];
  description?: string | null;
  /** Changes the runs without sending all of them, because others may edit the suite too. */
  add_run_ids?: readonly string[];
  remove_run_ids?: readonly string[];
}

export const suiteApi = resource<SuiteWithCases, ListedSuite, SuiteOrder>("suites", ({ name }) => name);
export const suiteQuery = suiteApi.one;

/** One page of suites, newest first, or the search results, each with its last result. */
export const suitesQuery = (at: WorkspaceKey, search: NamedSearch) =>
  queryOptions({
    ...suiteApi.page(at, search),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ last_suite_run }) => last_suite_run && isInProgress(last_suite_run))
        ? 2 * activePollMs
        : idlePollMs,
  });

/** All stored results of a suite, newest first. */
export function suiteRunsQuery(at: WorkspaceKey, id: string) {
  return queryOptions({
    queryKey: [...suiteApi.of(at, id).queryKey, "runs"],
    queryFn: ({ signal }) => get<List<SuiteRun>>(suiteApi.url(at, id, "/runs?limit=50"), signal),
    refetchInterval: ({ state }) => (state.data?.data.some(isInProgress) ? activePollMs : idlePollMs),
  });
}

/** One suite run with its cases; refetched while it is running. */
export function suiteRunQuery(at: WorkspaceKey, id: string, suiteRunId: string) {
  return queryOptions({
    queryKey: [...suiteApi.of(at, id).queryKey, "run", suiteRunId],
    queryFn: ({ signal }) =>
      get<SuiteRunWithCases>(suiteApi.url(at, id, `/runs/${encodeURIComponent(suiteRunId)}`), signal),
    refetchInterval: ({ state }) => (state.data && isInProgress(state.data) ? activePollMs : false),
    retry: false,
  });
}

const isInProgress = ({ status }: SuiteRun): boolean => status === "in_progress";

export const startSuiteRun = (at: WorkspaceKey, id: string, body: { live?: Live }): Promise<SuiteRunWithCases> =>
  post(suiteApi.url(at, id, "/runs"), body);

export const cancelSuiteRun = (at: WorkspaceKey, id: string, suiteRunId: string): Promise<SuiteRunWithCases> =>
  post(suiteApi.url(at, id, `/runs/${encodeURIComponent(suiteRunId)}/cancel`));

/** Adds runs to the end of a suite. */
export const addCases = (at: WorkspaceKey, id: string, runIds: readonly string[]): Promise<SuiteWithCases> =>
  suiteApi.change(at, id, { add_run_ids: runIds });

/** Removes a run from a suite. */
export const removeCase = (at: WorkspaceKey, id: string, runId: string): Promise<SuiteWithCases> =>
  suiteApi.change(at, id, { remove_run_ids: [runId] });

/** Fields that every suite has. */
export type Suite = Omit<SuiteListItem, "last_suite_run">;

/** Live continuation of a case that diverged. */
export type LiveResult = NonNullable<SuiteCase["live"]>;

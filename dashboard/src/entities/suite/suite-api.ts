import { queryOptions } from "@tanstack/react-query";
import type { Live } from "../../../../server/suites/schema.ts";
import type { List } from "../../../../server/wire/schema.ts";
import type {
  SuiteListItem as ListedSuite,
  SuiteCase,
  SuiteListItem,
  SuiteRunListItem as SuiteRun,
  SuiteRun as SuiteRunWithCases,
  Suite as SuiteWithCases,
} from "../../../../server/wire/suite.ts";
import { get, post } from "../../lib/api.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { type At, resource } from "../resource/resource.ts";

const workingMs = 1000;
const restingMs = 10_000;

interface SuiteOrder {
  name: string;
  run_ids: string[];
  description?: string | null;
  /** In place of all its runs, those that come and go: others may change the suite meanwhile. */
  add_run_ids?: readonly string[];
  remove_run_ids?: readonly string[];
}

export const suiteApi = resource<SuiteWithCases, ListedSuite, SuiteOrder>("suites", ({ name }) => name);
export const suiteQuery = suiteApi.one;

/** One page of suites, newest first, or those that are sought, each with what last came of it. */
export const suitesQuery = (at: At, search: NamedSearch) =>
  queryOptions({
    ...suiteApi.page(at, search),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ last_suite_run }) => last_suite_run && isGoing(last_suite_run))
        ? 2 * workingMs
        : restingMs,
  });

/** Results of a suite so far, newest first: all that the server remembers of it. */
export function suiteRunsQuery(at: At, id: string) {
  return queryOptions({
    queryKey: [...suiteApi.of(at, id).queryKey, "runs"],
    queryFn: ({ signal }) => get<List<SuiteRun>>(suiteApi.url(at, id, "/runs?limit=50"), signal),
    refetchInterval: ({ state }) => (state.data?.data.some(isGoing) ? workingMs : restingMs),
  });
}

/** One suite run with its cases; read again while it goes on. */
export function suiteRunQuery(at: At, id: string, suiteRunId: string) {
  return queryOptions({
    queryKey: [...suiteApi.of(at, id).queryKey, "run", suiteRunId],
    queryFn: ({ signal }) =>
      get<SuiteRunWithCases>(suiteApi.url(at, id, `/runs/${encodeURIComponent(suiteRunId)}`), signal),
    refetchInterval: ({ state }) => (state.data && isGoing(state.data) ? workingMs : false),
    retry: false,
  });
}

const isGoing = ({ status }: SuiteRun): boolean => status === "in_progress";

export const startSuiteRun = (at: At, id: string, body: { live?: Live }): Promise<SuiteRunWithCases> =>
  post(suiteApi.url(at, id, "/runs"), body);

export const cancelSuiteRun = (at: At, id: string, suiteRunId: string): Promise<SuiteRunWithCases> =>
  post(suiteApi.url(at, id, `/runs/${encodeURIComponent(suiteRunId)}/cancel`));

/** Puts runs into a suite, behind those that it has. */
export const addCases = (at: At, id: string, runIds: readonly string[]): Promise<SuiteWithCases> =>
  suiteApi.change(at, id, { add_run_ids: runIds });

/** Takes a run out of a suite. */
export const removeCase = (at: At, id: string, runId: string): Promise<SuiteWithCases> =>
  suiteApi.change(at, id, { remove_run_ids: [runId] });

/** What is known of each suite. */
export type Suite = Omit<SuiteListItem, "last_suite_run">;

/** How a case that diverged went on with its model. */
export type LiveResult = NonNullable<SuiteCase["live"]>;

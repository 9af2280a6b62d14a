import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, query, remove, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List, Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { Live, Suite, SuiteRun, SuiteRunWithCases, SuiteWithCases } from "./fns/suite-types.ts";

type At = Pick<Workspace, "projectId" | "mode">;

const workingMs = 1000;
const restingMs = 10_000;

const suiteUrl = (at: At, id: string, rest = ""): string => resourceUrl(at, `/suites/${encodeURIComponent(id)}${rest}`);

/** One page of suites, newest first. */
export function suitesQuery(at: At, search: PageSearch) {
  return queryOptions({
    queryKey: ["suites", at.projectId, at.mode, search],
    queryFn: ({ signal }) =>
      get<List<Suite>>(resourceUrl(at, `/suites${query({ limit: 50, ...pageQuery(search) })}`), signal),
    refetchInterval: restingMs,
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

/** The last of them, or null: for each row of a list, so it is read more seldom. */
export function lastSuiteRunQuery(at: At, id: string) {
  return queryOptions({
    queryKey: ["suite-runs", at.projectId, at.mode, id, "last"],
    queryFn: async ({ signal }) =>
      (await get<List<SuiteRun>>(suiteUrl(at, id, "/runs?limit=1"), signal)).data[0] ?? null,
    refetchInterval: ({ state }) => (state.data && isGoing(state.data) ? 2 * workingMs : 6 * restingMs),
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

export interface SuiteOrder {
  name: string;
  run_ids: string[];
  description?: string | null;
}

export const createSuite = (at: At, order: SuiteOrder): Promise<SuiteWithCases> =>
  post(resourceUrl(at, "/suites"), order);

export const changeSuite = (at: At, id: string, change: Partial<SuiteOrder>): Promise<SuiteWithCases> =>
  patch(suiteUrl(at, id), change);

export const deleteSuite = (at: At, id: string): Promise<unknown> => remove(suiteUrl(at, id));

export const startSuiteRun = (at: At, id: string, body: { live?: Live }): Promise<SuiteRunWithCases> =>
  post(suiteUrl(at, id, "/runs"), body);

export const cancelSuiteRun = (at: At, id: string, suiteRunId: string): Promise<SuiteRunWithCases> =>
  post(suiteUrl(at, id, `/runs/${encodeURIComponent(suiteRunId)}/cancel`));

/** Puts runs into a suite as it is now, behind those that it has. */
export async function addCases(at: At, id: string, runIds: readonly string[]): Promise<SuiteWithCases> {
  const { cases } = await get<SuiteWithCases>(suiteUrl(at, id));
  return changeSuite(at, id, { run_ids: [...new Set([...cases.map(({ run_id }) => run_id), ...runIds])] });
}

/** Takes a run out of a suite as it is now. */
export async function removeCase(at: At, id: string, runId: string): Promise<SuiteWithCases> {
  const { cases } = await get<SuiteWithCases>(suiteUrl(at, id));
  return changeSuite(at, id, { run_ids: cases.map(({ run_id }) => run_id).filter((each) => each !== runId) });
}

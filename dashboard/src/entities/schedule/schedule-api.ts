import { queryOptions } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { ScheduleRun as Firing, Schedule } from "../../../../server/domain/api-types/schedule.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { CreateSchedule as ScheduleOrder } from "../../../../server/resources/schedules/schema.ts";
import { get, post, query } from "../../lib/api.ts";
import { type NamedSearch, pageQuery } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import type { ScheduleSearch } from "./read-schedule-search.ts";

export type CatchUp = Schedule["catch_up"];
export type IfBusy = Schedule["if_busy"];

export const scheduleApi = resource<Schedule, Schedule, ScheduleOrder & { enabled?: boolean }>(
  "schedules",
  ({ name }) => name,
);

/** One page of schedules, newest first, or the search results. */
export const schedulesQuery = (at: WorkspaceKey, search: NamedSearch) => ({
  ...scheduleApi.page(at, search),
  refetchInterval: 10_000,
});

export const scheduleQuery = (at: WorkspaceKey, id: string) => ({ ...scheduleApi.one(at, id), refetchInterval: 5_000 });

/** Results of a schedule's runs, newest first. */
export function firingsQuery(at: WorkspaceKey, id: string, { outcome, after, before }: ScheduleSearch) {
  const values = { limit: 50, outcome, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: [...scheduleApi.of(at, id).queryKey, "firings", values],
    queryFn: ({ signal }) => get<List<Firing>>(scheduleApi.url(at, id, `/runs${query(values)}`), signal),
    refetchInterval: 5_000,
  });
}

/** Result of the last run; refetched while it is running. */
export function lastFiringQuery(at: WorkspaceKey, { id, last_run_id }: Schedule) {
  return queryOptions({
    queryKey: [...scheduleApi.of(at, id).queryKey, "last-firing", last_run_id],
    queryFn: async ({ signal }) =>
      (await get<List<Firing>>(scheduleApi.url(at, id, "/runs?limit=1"), signal)).data[0] ?? null,
    staleTime: 30_000,
    refetchInterval: ({ state }) => (state.data?.outcome === "started" ? 3_000 : false),
  });
}

export const triggerSchedule = (at: WorkspaceKey, id: string): Promise<Run> =>
  post(scheduleApi.url(at, id, "/trigger"));

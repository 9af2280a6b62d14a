import { queryOptions } from "@tanstack/react-query";
import type { RunInput } from "../../../../server/core/run-input.ts";
import { get, post, query } from "../../lib/api.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List, Run } from "../../lib/types.ts";
import { type At, resource } from "../resource/resource.ts";
import type { Outcome, ScheduleSearch } from "./read-schedule-search.ts";

export type CatchUp = "skip" | "one";
export type IfBusy = "start" | "skip" | "queue";

export interface Failure {
  code: string;
  message: string;
  at: string;
  run_id: string | null;
}

export interface Schedule {
  id: string;
  name: string;
  agent_id: string;
  input: RunInput;
  cron: string;
  timezone: string;
  enabled: boolean;
  catch_up: CatchUp;
  if_busy: IfBusy;
  next_run_ats: string[];
  last_run_id: string | null;
  last_error: Failure | null;
  failure_count: number;
  disabled_reason: string | null;
  user_id: string | null;
  session_id: string | null;
  created_at: string;
  /** In a list: the fields that are not here in full. */
  truncated?: string[];
}

/** What a schedule is created with. */
export interface ScheduleOrder {
  name: string;
  agent_id: string;
  input: RunInput;
  cron: string;
  timezone: string;
  catch_up: CatchUp;
  if_busy: IfBusy;
  user_id: string | null;
}

/** A time that came, and what came of it. */
export interface Firing {
  id: string;
  trigger: "plan" | "catch_up" | "request";
  due_at: string;
  outcome: Outcome;
  run_id: string | null;
  error: Failure | null;
}

export const scheduleApi = resource<Schedule, Schedule, ScheduleOrder & { enabled?: boolean }>("schedules");

/** One page of schedules, newest first. */
export const schedulesQuery = (at: At, search: PageSearch) => ({
  ...scheduleApi.page(at, search),
  refetchInterval: 10_000,
});

export const scheduleQuery = (at: At, id: string) => ({ ...scheduleApi.one(at, id), refetchInterval: 5_000 });

/** What came of a schedule's times, newest first. */
export function firingsQuery(at: At, id: string, { outcome, after, before }: ScheduleSearch) {
  const values = { limit: 50, outcome, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: [...scheduleApi.of(at, id).queryKey, "firings", values],
    queryFn: ({ signal }) => get<List<Firing>>(scheduleApi.url(at, id, `/runs${query(values)}`), signal),
    refetchInterval: 5_000,
  });
}

/** What came of the last time; read again while its run goes on. */
export function lastFiringQuery(at: At, { id, last_run_id }: Schedule) {
  return queryOptions({
    queryKey: [...scheduleApi.of(at, id).queryKey, "last-firing", last_run_id],
    queryFn: async ({ signal }) =>
      (await get<List<Firing>>(scheduleApi.url(at, id, "/runs?limit=1"), signal)).data[0] ?? null,
    staleTime: 30_000,
    refetchInterval: ({ state }) => (state.data?.outcome === "started" ? 3_000 : false),
  });
}

export const triggerSchedule = (at: At, id: string): Promise<Run> => post(scheduleApi.url(at, id, "/trigger"));

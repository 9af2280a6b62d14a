import { queryOptions } from "@tanstack/react-query";
import type { RunInput } from "../../../../server/core/run-input.ts";
import { get, patch, post, query, remove, resourceUrl } from "../../lib/api.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List, Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { Outcome, ScheduleSearch } from "./read-schedule-search.ts";

export type CatchUp = "skip" | "one";
export type IfBusy = "start" | "skip" | "queue";

interface Failure {
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

type At = Pick<Workspace, "projectId" | "mode">;

const scheduleUrl = (at: At, id: string): string => resourceUrl(at, `/schedules/${encodeURIComponent(id)}`);

/** One page of schedules, newest first. */
export function schedulesQuery(at: At, search: PageSearch) {
  return queryOptions({
    queryKey: ["schedules", at.projectId, at.mode, search],
    queryFn: ({ signal }) =>
      get<List<Schedule>>(resourceUrl(at, `/schedules${query({ limit: 50, ...pageQuery(search) })}`), signal),
    refetchInterval: 10_000,
  });
}

export function scheduleQuery(at: At, id: string) {
  return queryOptions({
    queryKey: ["schedule", at.projectId, at.mode, id],
    queryFn: ({ signal }) => get<Schedule>(scheduleUrl(at, id), signal),
    refetchInterval: 5_000,
  });
}

/** What came of a schedule's times, newest first. */
export function firingsQuery(at: At, id: string, { outcome, after, before }: ScheduleSearch) {
  const values = { limit: 50, outcome, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: ["firings", at.projectId, at.mode, id, values],
    queryFn: ({ signal }) => get<List<Firing>>(`${scheduleUrl(at, id)}/runs${query(values)}`, signal),
    refetchInterval: 5_000,
  });
}

/** What came of the last time; read again while its run goes on. */
export function lastFiringQuery(at: At, { id, last_run_id }: Schedule) {
  return queryOptions({
    queryKey: ["last-firing", at.projectId, at.mode, id, last_run_id],
    queryFn: async ({ signal }) =>
      (await get<List<Firing>>(`${scheduleUrl(at, id)}/runs${query({ limit: 1 })}`, signal)).data[0] ?? null,
    staleTime: 30_000,
    refetchInterval: ({ state }) => (state.data?.outcome === "started" ? 3_000 : false),
  });
}

export const createSchedule = (at: At, order: ScheduleOrder): Promise<Schedule> =>
  post(resourceUrl(at, "/schedules"), order);

export const changeSchedule = (
  at: At,
  id: string,
  change: Partial<ScheduleOrder> & { enabled?: boolean },
): Promise<Schedule> => patch(scheduleUrl(at, id), change);

export const deleteSchedule = (at: At, id: string): Promise<unknown> => remove(scheduleUrl(at, id));

export const triggerSchedule = (at: At, id: string): Promise<Run> => post(`${scheduleUrl(at, id)}/trigger`);

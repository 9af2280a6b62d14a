import { queryOptions } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { UsageReport } from "../../../../server/domain/api-types/usage.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";
import { runApi } from "../run/run-api.ts";

const every_ms = 15_000;
const mostFailures = 100;

/** Usage of runs, as `GET /v1/usage` returns it. */
export type UsageCounts = UsageReport["totals"];

export type DayUsage = UsageCounts & { day: string };
export type AgentUsage = UsageCounts & { agent_id: string };

/** Usage by day. */
export const dayUsageQuery = (at: WorkspaceKey, days: readonly string[]) => usageQuery<DayUsage>(at, "day", days);

/** Usage by agent, most expensive first. */
export const agentUsageQuery = (at: WorkspaceKey, days: readonly string[]) => usageQuery<AgentUsage>(at, "agent", days);

/** Usage by agent and in total, for a range of days. */
export const spanUsageQuery = (at: WorkspaceKey, { from, to }: { from: string; to: string }) =>
  usageQuery<AgentUsage>(at, "agent", [from, to]);

function usageQuery<T>(at: WorkspaceKey, group_by: string, days: readonly string[]) {
  const values = { from: days[0], to: days.at(-1), group_by };
  return queryOptions({
    queryKey: ["usage", at.projectId, at.mode, values],
    queryFn: ({ signal }) =>
      get<List<T> & Pick<UsageReport, "totals">>(resourceUrl(at, `/usage${query(values)}`), signal),
    refetchInterval: every_ms,
  });
}

/** Newest failed runs that started in a time range. */
export function failuresQuery(at: WorkspaceKey, time: { since: string; until?: string }) {
  return queryOptions({
    queryKey: runApi.key(at, "failures", time),
    queryFn: ({ signal }) => {
      const values = { status: "failed", limit: mostFailures, "created_at[gte]": time.since };
      return get<List<Run>>(runApi.url(at) + query({ ...values, "created_at[lte]": time.until }), signal);
    },
    refetchInterval: every_ms,
  });
}

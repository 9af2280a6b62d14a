import { queryOptions } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { List } from "../../../../server/wire/schema.ts";
import type { UsageReport } from "../../../../server/wire/usage.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";
import { runApi } from "../run/run-api.ts";

const every_ms = 15_000;
const mostFailures = 100;

/** What runs used, as `GET /v1/usage` counts it. */
export type UsageCounts = UsageReport["totals"];

export type DayUsage = UsageCounts & { day: string };
export type AgentUsage = UsageCounts & { agent_id: string };

/** What was used on each of these days. */
export const dayUsageQuery = (at: At, days: readonly string[]) => usageQuery<DayUsage>(at, "day", days);

/** What each agent used in these days, the dearest first. */
export const agentUsageQuery = (at: At, days: readonly string[]) => usageQuery<AgentUsage>(at, "agent", days);

/** What was used in the days of a time, by agents and in all. */
export const spanUsageQuery = (at: At, { from, to }: { from: string; to: string }) =>
  usageQuery<AgentUsage>(at, "agent", [from, to]);

function usageQuery<T>(at: At, group_by: string, days: readonly string[]) {
  const values = { from: days[0], to: days.at(-1), group_by };
  return queryOptions({
    queryKey: ["usage", at.projectId, at.mode, values],
    queryFn: ({ signal }) =>
      get<List<T> & Pick<UsageReport, "totals">>(resourceUrl(at, `/usage${query(values)}`), signal),
    refetchInterval: every_ms,
  });
}

/** The newest runs that began in a time and failed. */
export function failuresQuery(at: At, time: { since: string; until?: string }) {
  return queryOptions({
    queryKey: runApi.key(at, "failures", time),
    queryFn: ({ signal }) => {
      const values = { status: "failed", limit: mostFailures, "created_at[gte]": time.since };
      return get<List<Run>>(runApi.url(at) + query({ ...values, "created_at[lte]": time.until }), signal);
    },
    refetchInterval: every_ms,
  });
}

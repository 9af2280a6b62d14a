import { queryOptions } from "@tanstack/react-query";
import type { AnalyticsGrouping, Bucket } from "../../../../server/domain/api-types/enums.ts";
import type { AnalyticsReport } from "../../../../server/domain/api-types/usage.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";

const every_ms = 15_000;

/** Time range of a chart: two whole days in UTC (inclusive), or two timestamps. */
export interface Span {
  from: string;
  to: string;
}

/** Filter of analytics: an agent, or one series of the grouping. */
export interface AnalyticsFilter {
  agent_id?: string;
  name?: string;
}

/** Time series for charts. */
export const analyticsQuery = (
  at: WorkspaceKey,
  values: Span & AnalyticsFilter & { group_by: AnalyticsGrouping; bucket?: Bucket },
) =>
  queryOptions({
    queryKey: ["analytics", at.projectId, at.mode, values],
    queryFn: ({ signal }) => get<AnalyticsReport>(resourceUrl(at, `/analytics${query({ ...values })}`), signal),
    refetchInterval: every_ms,
  });

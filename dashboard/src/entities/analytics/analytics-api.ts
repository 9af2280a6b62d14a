import { queryOptions } from "@tanstack/react-query";
import type { AnalyticsGrouping } from "../../../../server/wire/names.ts";
import type { AnalyticsReport } from "../../../../server/wire/usage.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";

const every_ms = 15_000;

/** The time that charts show: two days in UTC, both whole, or two times. */
export interface Span {
  from: string;
  to: string;
}

/** What is looked at: all of it, or what an agent or one series of the grouping did. */
export interface Narrowed {
  agent_id?: string;
  name?: string;
}

/** Series for charts. */
export const analyticsQuery = (
  at: At,
  values: Span & Narrowed & { group_by: AnalyticsGrouping; bucket?: "hour" | "day" },
) =>
  queryOptions({
    queryKey: ["analytics", at.projectId, at.mode, values],
    queryFn: ({ signal }) => get<AnalyticsReport>(resourceUrl(at, `/analytics${query({ ...values })}`), signal),
    refetchInterval: every_ms,
  });

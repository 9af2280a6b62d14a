import type { AnalyticsGrouping } from "../../../../server/domain/api-types/enums.ts";
import type { AnalyticsFilter } from "../../entities/analytics/analytics-api.ts";
import { filtersOf, type RunsSearch } from "../../entities/run/runs-search.ts";

/** Returns the analytics filter of a list; null if it uses a filter that analytics does not support. */
export function analyticsFilterOf(search: RunsSearch): (AnalyticsFilter & { group_by: AnalyticsGrouping }) | null {
  const { status: _, since: __, until: ___, agent, model, error, user, ...others } = filtersOf(search);
  const nameFilters = Object.entries({ model, error, user }).filter(([, name]) => name !== undefined);
  if (Object.keys(others).length > 0 || nameFilters.length > 1) return null;
  const [group_by = "model", name] = (nameFilters[0] ?? []) as [AnalyticsGrouping?, string?];
  return { group_by, ...(agent && { agent_id: agent }), ...(name && { name }) };
}

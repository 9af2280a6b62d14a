import type { AnalyticsGrouping } from "../../../../server/wire/names.ts";
import type { Narrowed } from "../../entities/analytics/analytics-api.ts";
import { filtersOf, type RunsSearch } from "../../entities/run/runs-search.ts";

/** What is counted of a list as runs end; null for one that is narrowed by what nobody counts. */
export function countedOf(search: RunsSearch): (Narrowed & { group_by: AnalyticsGrouping }) | null {
  const { status: _, since: __, until: ___, agent, model, error, user, ...others } = filtersOf(search);
  const named = Object.entries({ model, error, user }).filter(([, name]) => name !== undefined);
  if (Object.keys(others).length > 0 || named.length > 1) return null;
  const [group_by = "model", name] = (named[0] ?? []) as [AnalyticsGrouping?, string?];
  return { group_by, ...(agent && { agent_id: agent }), ...(name && { name }) };
}

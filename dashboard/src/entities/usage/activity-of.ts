import type { AnalyticsReport } from "../../../../server/domain/api-types/usage.ts";
import { unknownText } from "../../lib/format.ts";

/** Count, outcomes and average duration. */
export type Activity = Pick<AnalyticsReport["totals"], "count" | "completed" | "failed" | "average_ms">;

const none: Activity = { count: 0, completed: 0, failed: 0, average_ms: null };

/** Activity of one name. Null if unknown: a report contains a limited number of series, largest first. */
export function activityOf(
  report: Pick<AnalyticsReport, "data" | "has_more"> | undefined,
  name: string,
): Activity | null {
  const found = report?.data.find((series) => series.name === name);
  return found ?? (report && !report.has_more ? none : null);
}

/** Success rate without cancelled runs, such as `98%`; never `100%` if one failed. */
export function successWords({ completed, failed }: Activity): string {
  const all = completed + failed;
  if (all === 0) return unknownText;
  const percent = (completed / all) * 100;
  return `${failed > 0 ? Math.min(99, Math.round(percent)) : 100}%`;
}

import type { AnalyticsReport } from "../../../../server/wire/usage.ts";
import { unknown } from "../../lib/format.ts";

/** How often something ran, how that ended, and how long it took on average. */
export type Activity = Pick<AnalyticsReport["totals"], "count" | "completed" | "failed" | "average_ms">;

const none: Activity = { count: 0, completed: 0, failed: 0, average_ms: null };

/** Of one name. Null where it is not known: a report holds so many series, and what is less than those is in none. */
export function activityOf(
  report: Pick<AnalyticsReport, "data" | "has_more"> | undefined,
  name: string,
): Activity | null {
  const found = report?.data.find((series) => series.name === name);
  return found ?? (report && !report.has_more ? none : null);
}

/** `98%` of what was not cancelled; never `100%` where something failed. */
export function successWords({ completed, failed }: Activity): string {
  const all = completed + failed;
  if (all === 0) return unknown;
  const percent = (completed / all) * 100;
  return `${failed > 0 ? Math.min(99, Math.round(percent)) : 100}%`;
}

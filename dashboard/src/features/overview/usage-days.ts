import type { Period } from "../../entities/analytics/period.ts";
import type { DayUsage, UsageCounts } from "../../entities/usage/usage-api.ts";
import { plural } from "../../lib/format.ts";

/** Minimum number of days in a chart, because a single bar says nothing. */
export const minShownDays = 7;

/** Names of the period before. */
const previousPeriodNames: Record<Period, string> = {
  today: "yesterday",
  "7d": "the 7 days before",
  "30d": "the 30 days before",
};

const zeroCounts: UsageCounts = {
  runs: { started: 0, completed: 0, failed: 0, cancelled: 0 },
  worked_ms: { p50: null, p95: null },
  model_calls: 0,
  tool_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_input_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0,
  unknown_cost_calls: 0,
  unknown_token_calls: 0,
  estimated_calls: 0,
};

/** Returns the usage of each of these days. Days missing from the report are zero. */
export function fillDays(report: readonly DayUsage[], days: readonly string[]): DayUsage[] {
  const usageByDay = new Map(report.map((each) => [each.day, each]));
  return days.map((day) => usageByDay.get(day) ?? { ...zeroCounts, day });
}

/** Returns the totals of all days. */
export function sumOf(days: readonly DayUsage[]) {
  const sum = (read: (day: DayUsage) => number) => days.reduce((total, day) => total + read(day), 0);
  return {
    ended: sum(endedRuns),
    failed: sum(({ runs }) => runs.failed),
    started: sum(({ runs }) => runs.started),
    tokens: sum(({ total_tokens }) => total_tokens),
    cached: sum(({ cached_input_tokens }) => cached_input_tokens),
    cost: sum(({ cost_usd }) => cost_usd),
    unpriced: sum(({ unknown_cost_calls }) => unknown_cost_calls),
    uncounted: sum(({ unknown_token_calls }) => unknown_token_calls),
  };
}

/** Returns the number of ended runs: completed, failed or cancelled. */
export const endedRuns = ({ runs }: UsageCounts): number => runs.completed + runs.failed + runs.cancelled;

/** Returns the number of runs whose time is measured. The time of a cancelled run says nothing. */
export const measuredRuns = ({ runs }: UsageCounts): number => runs.completed + runs.failed;

/**
 * Returns the trend in words: “12% more than the 7 days before”. A decrease is “so far” unless the period is a custom
 * range that is over, because today's numbers still grow.
 */
export function trendWords(now: number, before: number, period: Period | { days: number; isOver: boolean }): string {
  const isOver = typeof period === "object" && period.isOver;
  const than =
    typeof period === "object"
      ? `the ${plural(period.days, "day")} before`.replace("1 day", "day")
      : previousPeriodNames[period];
  if (before === 0) return `${now === 0 ? "None, same as" : "None in"} ${than}`.replace("in yesterday", "yesterday");
  const change = Math.round(((now - before) / before) * 100);
  if (change === 0) return `Same as ${than}`;
  // Large percentages are hard to read, so use a factor.
  if (change > 900) return `${Math.round(now / before)} times as many as ${than}`;
  return change > 0 ? `${change}% more than ${than}` : `${-change}% less ${isOver ? "" : "so far "}than ${than}`;
}

/** Returns the label of each day. */
export const dayLabels = (days: readonly { day: string }[]): string[] => {
  const today = todayUtc();
  return days.map(({ day }) => dayLabel(day, today));
};

/** Returns today's date in UTC. */
export const todayUtc = (): string => new Date().toISOString().slice(0, 10);

/** Returns “Fri 20”, or “Today” if the day is `today`. */
export function dayLabel(day: string, today: string): string {
  if (day === today) return "Today";
  const [weekday, number] = new Date(`${day}T12:00:00Z`)
    .toLocaleDateString("en-GB", { weekday: "short", day: "numeric", timeZone: "UTC" })
    .split(" ");
  return `${weekday?.replace(",", "")} ${number}`;
}

import type { Period } from "../../entities/analytics/period.ts";
import type { DayUsage, UsageCounts } from "../../entities/usage/usage-api.ts";
import { plural } from "../../lib/format.ts";

/** Charts show so many days at least: one bar alone says nothing. */
export const shownLeast = 7;

/** The time before a period, as one says it. */
const beforeWords: Record<Period, string> = {
  today: "yesterday",
  "7d": "the 7 days before",
  "30d": "the 30 days before",
};

const none: UsageCounts = {
  runs: { started: 0, completed: 0, failed: 0, cancelled: 0 },
  worked_ms: { p50: null, p95: null },
  model_calls: 0,
  tool_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0,
  unknown_cost_calls: 0,
  unknown_token_calls: 0,
  estimated_calls: 0,
};

/** What was used on each of these days; on those that the report leaves out, nothing. */
export function fillDays(report: readonly DayUsage[], days: readonly string[]): DayUsage[] {
  const known = new Map(report.map((each) => [each.day, each]));
  return days.map((day) => known.get(day) ?? { ...none, day });
}

/** All days together. */
export function sumOf(days: readonly DayUsage[]) {
  const sum = (read: (day: DayUsage) => number) => days.reduce((total, day) => total + read(day), 0);
  return {
    ended: sum(endedOf),
    failed: sum(({ runs }) => runs.failed),
    started: sum(({ runs }) => runs.started),
    tokens: sum(({ total_tokens }) => total_tokens),
    cached: sum(({ cached_input_tokens }) => cached_input_tokens),
    cost: sum(({ cost_usd }) => cost_usd),
    unpriced: sum(({ unknown_cost_calls }) => unknown_cost_calls),
    uncounted: sum(({ unknown_token_calls }) => unknown_token_calls),
  };
}

/** Runs that ended on a day, however they did. */
export const endedOf = ({ runs }: UsageCounts): number => runs.completed + runs.failed + runs.cancelled;

/** Runs whose time is counted: how long one took that somebody broke off says nothing. */
export const timedOf = ({ runs }: UsageCounts): number => runs.completed + runs.failed;

/**
 * “12% more than the 7 days before”. Where the last day is not over, what is less now may not stay so: it is said, and a
 * custom range of days that are over says it of all of them.
 */
export function trendWords(now: number, before: number, period: Period | { days: number; isOver: boolean }): string {
  const isOver = typeof period === "object" && period.isOver;
  const than =
    typeof period === "object"
      ? `the ${plural(period.days, "day")} before`.replace("1 day", "day")
      : beforeWords[period];
  if (before === 0) return `${now === 0 ? "None, same as" : "None in"} ${than}`.replace("in yesterday", "yesterday");
  const change = Math.round(((now - before) / before) * 100);
  if (change === 0) return `Same as ${than}`;
  // Beyond this nobody reads a percentage any more.
  if (change > 900) return `${Math.round(now / before)} times as many as ${than}`;
  return change > 0 ? `${change}% more than ${than}` : `${-change}% less ${isOver ? "" : "so far "}than ${than}`;
}

/** What each day is called. */
export const dayLabels = (days: readonly { day: string }[]): string[] => {
  const today = todayUtc();
  return days.map(({ day }) => dayLabel(day, today));
};

/** The day in UTC. */
export const todayUtc = (): string => new Date().toISOString().slice(0, 10);

/** “Fri 20”, “Today” for that day. */
export function dayLabel(day: string, today: string): string {
  if (day === today) return "Today";
  const [weekday, number] = new Date(`${day}T12:00:00Z`)
    .toLocaleDateString("en-GB", { weekday: "short", day: "numeric", timeZone: "UTC" })
    .split(" ");
  return `${weekday?.replace(",", "")} ${number}`;
}

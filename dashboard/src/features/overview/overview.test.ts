import { describe, expect, test } from "bun:test";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { daysUntil } from "../../entities/analytics/period.ts";
import {
  type Axis,
  countAxis,
  dollarAxis,
  durationAxis,
  formatCompact,
  formatDollars,
  formatKnown,
  share,
} from "../../lib/numbers.ts";
import { failureGroups } from "./failure-groups.ts";
import { readOverviewSearch } from "./read-overview-search.ts";
import { dayLabel, fillDays, sumOf, trendWords } from "./usage-days.ts";

describe("days", () => {
  test("end at the given day, and days without usage are zero", () => {
    const days = daysUntil("2026-11-21", 3);
    expect(days).toEqual(["2026-11-19", "2026-11-20", "2026-11-21"]);
    const filled = fillDays([], days);
    expect(filled.map(({ day }) => day)).toEqual(days);
    expect(sumOf(filled)).toMatchObject({ ended: 0, failed: 0, tokens: 0, cost: 0 });
  });

  test("are labelled by weekday and number, the current one as today", () => {
    expect(dayLabel("2026-11-20", "2026-11-21")).toBe("Fri 20");
    expect(dayLabel("2026-11-21", "2026-11-21")).toBe("Today");
  });
});

test("a trend shows the change in percent, and none if the period before was empty", () => {
  expect(trendWords(112, 100, "7d")).toBe("12% more than the 7 days before");
  expect(trendWords(88, 100, "today")).toBe("12% less so far than yesterday");
  expect(trendWords(100, 100, "30d")).toBe("Same as the 30 days before");
  expect(trendWords(5, 0, "7d")).toBe("None in the 7 days before");
  expect(trendWords(5, 0, "today")).toBe("None yesterday");
  expect(trendWords(88, 100, { days: 3, isOver: true })).toBe("12% less than the 3 days before");
  expect(trendWords(88, 100, { days: 1, isOver: false })).toBe("12% less so far than the day before");
  expect([trendWords(0, 0, "today"), trendWords(0, 0, "7d")]).toEqual([
    "None, same as yesterday",
    "None, same as the 7 days before",
  ]);
  expect(trendWords(2000, 100, "7d")).toBe("20 times as many as the 7 days before");
});

describe("an axis", () => {
  const marks = ({ end, format }: Axis) => [0, end / 2, end].map(format);

  test("ends at a round number above all values, and its middle is round too", () => {
    expect([0, 1, 3, 5, 7, 2120].map((most) => countAxis([most]).end)).toEqual([2, 2, 4, 6, 8, 2400]);
    expect([0.00006, 0.3, 9.1].map((most) => dollarAxis([most]).end)).toEqual([0.00006, 0.3, 10]);
  });

  test("formats all its values in one unit with the same decimals", () => {
    expect(marks(countAxis([7]))).toEqual(["0", "4", "8"]);
    expect(marks(countAxis([17_000]))).toEqual(["0", "10 k", "20 k"]);
    expect(marks(countAxis([1_100_000]))).toEqual(["0", "0.6 M", "1.2 M"]);
    expect(marks(countAxis([9_000_000]))).toEqual(["0", "5 M", "10 M"]);
    expect(marks(dollarAxis([4.7]))).toEqual(["$0.00", "$2.50", "$5.00"]);
    expect(marks(dollarAxis([0.9]))).toEqual(["$0.00", "$0.50", "$1.00"]);
    expect(marks(dollarAxis([0.00017]))).toEqual(["$0.00", "$0.0001", "$0.0002"]);
    expect(marks(dollarAxis([]))).toEqual(["$0", "$1", "$2"]);
  });

  test("of durations uses the unit that fits its values", () => {
    expect(marks(durationAxis([3, 388]))).toEqual(["0 ms", "200 ms", "400 ms"]);
    expect(marks(durationAxis([1]))).toEqual(["0 ms", "1 ms", "2 ms"]);
    expect(marks(durationAxis([0.4]))).toEqual(["0 ms", "1 ms", "2 ms"]);
    expect(marks(durationAxis([2430, 22_400]))).toEqual(["0 s", "12 s", "24 s"]);
    expect(marks(durationAxis([61_000]))).toEqual(["0.0 min", "0.6 min", "1.2 min"]);
    expect(marks(durationAxis([3 * 3_600_000]))).toEqual(["0.0 h", "1.5 h", "3.0 h"]);
    expect(marks(durationAxis([]))).toEqual(["0 s", "1 s", "2 s"]);
  });
});

test("figures are short", () => {
  expect([4, 9120, 18_240, 35_700_000].map(formatCompact)).toEqual(["4", "9,120", "18.2 k", "35.7 M"]);
  expect([0, 0.0043, 47.1].map(formatDollars)).toEqual(["$0.00", "$0.0043", "$47.10"]);
  expect(share(152, 11_068)).toBe("1.4%");
  expect([share(1, 100), share(0, 100), share(21, 100)]).toEqual(["1.0%", "0%", "21%"]);
  expect(share(0, 0)).toBe("");
});

test("failures are grouped by code, the most frequent first, each with its latest run", () => {
  const run = (id: string, code: string, agent_id: string) => ({ id, agent_id, error: { code } }) as Run;
  const groups = failureGroups([
    run("run_4", "model_error", "agt_a"),
    run("run_3", "tool_error", "agt_b"),
    run("run_2", "tool_error", "agt_a"),
    run("run_1", "tool_error", "agt_b"),
  ]);
  expect(groups.map(({ code, count, agentIds, latest }) => [code, count, agentIds.length, latest.id])).toEqual([
    ["tool_error", 3, 2, "run_3"],
    ["model_error", 1, 1, "run_4"],
  ]);
});

test("the query parameters keep known values and drop defaults", () => {
  expect(readOverviewSearch({ period: "30d", v: "table", x: 1 })).toEqual({ period: "30d", v: "table" });
  expect(readOverviewSearch({ period: "7d", v: "chart" })).toEqual({});
});

test("a sum with unknown parts is shown as a minimum, never as zero", () => {
  expect(formatKnown(0, 0, formatDollars)).toBe("$0.00");
  expect(formatKnown(0, 2, formatDollars)).toBe("–");
  expect(formatKnown(4.7, 2, formatDollars)).toBe("≥ $4.70");
  expect(formatKnown(18_200, 1, formatCompact)).toBe("≥ 18.2 k");
  const [day] = fillDays([], ["2026-11-21"]);
  expect(sumOf([{ ...day!, unknown_cost_calls: 2 }, day!])).toMatchObject({ cost: 0, unpriced: 2, uncounted: 0 });
});

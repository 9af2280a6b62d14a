import { expect, test } from "bun:test";
import type { AnalyticsReport } from "../../../../server/domain/api-types/usage.ts";
import { analyticsFilterOf } from "../../features/runs/counted-of.ts";
import { timeOf } from "../../features/runs/histogram.tsx";
import { daysOf, rangeWords, readPeriod } from "./period.ts";
import { bucketLabel, bucketsOf, bucketTick, outcomesOf, rangeLabel, rangesOf, seriesOf } from "./stacks.ts";

const day = 86_400_000;
const first = Date.parse("2026-11-20T00:00:00Z");
const now = first + 2.5 * day;
const counts = {
  count: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  average_ms: null,
};
const point = (days: number, values: object) => ({
  ...counts,
  at: new Date(first + days * day).toISOString(),
  ...values,
});
const series = (name: string, values: object, points: object[] = []) =>
  ({ object: "analytics_series", name, ...counts, ...values, points }) as AnalyticsReport["data"][number];
const report = (...data: AnalyticsReport["data"]) =>
  ({
    data,
    totals: counts,
    from: "2026-11-20T00:00:00.000Z",
    to: "2026-11-24T00:00:00.000Z",
    bucket: "day",
  }) as unknown as AnalyticsReport;

test("every day that has begun has a bar, also without runs", () => {
  expect(bucketsOf(report(), now)).toEqual([first, first + day, first + 2 * day]);
  const { bars } = outcomesOf(
    report(series("a", {}, [point(1, { completed: 2 })])),
    ["Completed", "Cancelled", "Failed"],
    now,
  );
  expect(bars.map(({ values }) => values)).toEqual([
    [0, 0],
    [2, 0],
    [0, 0],
  ]);
});

test("outcomes are summed over all series, and outcomes that never occurred are left out", () => {
  const both = report(
    series("a", {}, [point(0, { completed: 1, failed: 2 })]),
    series("b", {}, [point(0, { completed: 3 })]),
  );
  const { parts, bars } = outcomesOf(both, ["Completed", "Cancelled", "Failed"], now);
  expect(parts.map(({ name }) => name)).toEqual(["Completed", "Failed"]);
  expect(bars[0]!.values).toEqual([4, 2]);
});

test("the largest series are shown separately and all others as one", () => {
  const many = Array.from({ length: 8 }, (_, n) =>
    series(`m${n}`, { cost_usd: n + 1 }, [point(0, { cost_usd: n + 1 })]),
  );
  const { parts, bars } = seriesOf(report(...many), ({ cost_usd }) => cost_usd, now);
  expect(parts.map(({ name }) => name)).toEqual(["m7", "m6", "m5", "m4", "m3", "3 others"]);
  expect(bars[0]!.values).toEqual([8, 7, 6, 5, 4, 6]);
  expect(seriesOf(report(...many.slice(0, 6)), ({ cost_usd }) => cost_usd, now).parts).toHaveLength(6);
});

test("a histogram has readable ranges, empty ones between others, and none at its ends", () => {
  const ranges = rangesOf(report(series("0", { count: 1 }), series("4", { count: 2 }), series("120", { count: 5 })));
  expect(ranges.map(({ count }) => count)).toEqual([1, 0, 2, 0, 0, 0, 0, 5]);
  expect(ranges.map(rangeLabel).at(-1)).toBe("100 ms to 200 ms");
  expect(rangesOf(report())).toEqual([]);
});

test("day buckets are labelled by date and hour buckets by time, in UTC", () => {
  expect(bucketLabel({ at: first, until: first + day })).toBe("Fri 20 Nov");
  expect(bucketLabel({ at: first + 14 * 3_600_000, until: first + 15 * 3_600_000 })).toBe("Fri 20 Nov, 14:00 UTC");
  expect(
    [0, 14].map((hour) => bucketTick({ at: first + hour * 3_600_000, until: first + (hour + 1) * 3_600_000 })),
  ).toEqual(["20 Nov", "14:00"]);
});

test("a period in the address ends today or is a valid range of days", () => {
  expect(daysOf(readPeriod({ period: "today" }), "2026-11-20")).toEqual(["2026-11-20"]);
  expect(daysOf(readPeriod({}), "2026-11-20")).toHaveLength(7);
  const range = readPeriod({ from: "2026-10-30", to: "2026-11-01", period: "30d" });
  expect(daysOf(range, "2026-11-20")).toEqual(["2026-10-30", "2026-10-31", "2026-11-01"]);
  expect(rangeWords("2026-10-30", "2026-11-01")).toBe("30 Oct to 1 Nov");
  for (const wrong of [
    { from: "2026-11-02", to: "2026-11-01" },
    { from: "2026-11-02" },
    { from: "2020-01-01", to: "2026-01-01" },
  ])
    expect(readPeriod(wrong)).toEqual({});
});

test("a list has a chart only if its filters can be counted", () => {
  expect(analyticsFilterOf({ status: "failed", since: "24h" })).toEqual({ group_by: "model" });
  expect(analyticsFilterOf({ agent: "agt_1", user: "ada" })).toEqual({
    group_by: "user",
    name: "ada",
    agent_id: "agt_1",
  });
  expect([{ q: "x" }, { tool: "book" }, { user: "ada", model: "test/echo" }].map(analyticsFilterOf)).toEqual([
    null,
    null,
    null,
  ]);
});

test("the chart of a list uses whole hours up to a week and days beyond", () => {
  expect(timeOf({}, now)).toEqual({ from: "2026-11-15T12:00:00.000Z", to: "2026-11-22T12:00:00.000Z", bucket: "hour" });
  expect(timeOf({ since: "2026-11-01T06:30:00Z", until: "2026-11-15T06:30:00Z" }, now)).toEqual({
    from: "2026-11-01T00:00:00.000Z",
    to: "2026-11-16T00:00:00.000Z",
    bucket: "day",
  });
});

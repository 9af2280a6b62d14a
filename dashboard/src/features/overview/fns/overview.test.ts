import { describe, expect, test } from "bun:test";
import type { Run } from "../../../lib/types.ts";
import { failureGroups } from "./failure-groups.ts";
import { readOverviewSearch } from "./read-overview-search.ts";
import { axisEnd, countAxisEnd, formatCompact, formatDollars, share } from "./scale.ts";
import { dayLabel, daysUntil, fillDays, sumOf, trendWords } from "./usage-days.ts";

const now = Date.parse("2026-11-21T23:30:00Z");

describe("days", () => {
  test("end today, in UTC, and those without usage are zero", () => {
    const days = daysUntil(now, 3);
    expect(days).toEqual(["2026-11-19", "2026-11-20", "2026-11-21"]);
    const filled = fillDays([], days);
    expect(filled.map(({ day }) => day)).toEqual(days);
    expect(sumOf(filled)).toMatchObject({ ended: 0, failed: 0, tokens: 0, cost: 0 });
  });

  test("are called by weekday and number, the last one today", () => {
    expect(dayLabel("2026-11-20", "2026-11-21")).toBe("Fri 20");
    expect(dayLabel("2026-11-21", "2026-11-21")).toBe("today");
  });
});

test("a trend says how much more or less, and nothing absurd where there was nothing", () => {
  expect(trendWords(112, 100, "7d")).toBe("12 % more than the 7 days before");
  expect(trendWords(88, 100, "today")).toBe("12 % less than yesterday");
  expect(trendWords(100, 100, "30d")).toBe("As in the 30 days before");
  expect(trendWords(5, 0, "7d")).toBe("None in the 7 days before");
  expect(trendWords(5, 0, "today")).toBe("None yesterday");
  expect(trendWords(2000, 100, "7d")).toBe("20 times as many as the 7 days before");
});

test("an axis ends at a round number that holds everything", () => {
  expect([0, 1, 3, 9.1, 2120, 0.004].map((most) => axisEnd([most]))).toEqual([1, 1, 5, 10, 2500, 0.005]);
  expect([0, 1, 3, 5, 7, 2120].map((most) => countAxisEnd([most]))).toEqual([2, 2, 4, 6, 8, 4000]);
});

test("figures are short", () => {
  expect([4, 9120, 18_240, 35_700_000].map(formatCompact)).toEqual(["4", "9,120", "18.2 k", "35.7 M"]);
  expect([0, 0.0043, 47.1].map(formatDollars)).toEqual(["$0.00", "$0.0043", "$47.10"]);
  expect(share(152, 11_068)).toBe("1.4 %");
  expect(share(0, 0)).toBe("");
});

test("failures are grouped by their code, the most frequent first, each with its latest run", () => {
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

test("the address keeps what is known and not the default", () => {
  expect(readOverviewSearch({ period: "30d", v: "table", x: 1 })).toEqual({ period: "30d", v: "table" });
  expect(readOverviewSearch({ period: "7d", v: "chart" })).toEqual({});
});

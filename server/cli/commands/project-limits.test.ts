import { expect, test } from "bun:test";
import { limitRows, readLimits } from "./project-limits.ts";

test("flags become changes: `off` disables, `default` resets, and absent flags change nothing", () => {
  expect(readLimits({})).toBeNull();
  expect(
    readLimits({ readsPerMinute: "off", runsInProgress: "default", writesPerMinute: "7", childrenPerRun: "8" }),
  ).toEqual({
    limits: { reads_per_minute: 0, runs_in_progress: null, writes_per_minute: 7, children_per_run: 8 },
  });
  expect(readLimits({ usdPerDay: "19.99", tokensPerDay: "off", unknownPrice: "allow" })).toEqual({
    budget_per_day: { max_cost_usd: 19.99, max_total_tokens: null },
    unknown_price: "allow",
  });
});

test.each([
  { readsPerMinute: "-1" },
  { readsPerMinute: "1000001" },
  { usdPerDay: "0" },
  { usdPerDay: "default" },
  { usdPerDay: "1e3" },
  { usdPerDay: "0.0000001" },
  { usdPerDay: "1000001" },
  { usdPerDay: "-1" },
  { tokensPerDay: "1.5" },
  { tokensPerDay: "0" },
  { tokensPerDay: "1000000000001" },
])("%p is a usage error", (flags) => {
  expect(() => readLimits(flags)).toThrow(/takes a number/);
});

test("the table shows every limit, also those that were not set", () => {
  const limits = {
    reads_per_minute: 5,
    run_creations_per_minute: null,
    writes_per_minute: 0,
    runs_in_progress: null,
    children_per_run: 7,
  };
  const budget_per_day = { max_cost_usd: 19.99, max_total_tokens: null };
  expect(limitRows({ limits, budget_per_day, unknown_price: "refuse" })).toEqual([
    ["reads_per_minute", "5"],
    ["run_creations_per_minute", "120 (default)"],
    ["writes_per_minute", "off"],
    ["runs_in_progress", "20 (default)"],
    ["children_per_run", "7"],
    ["usd_per_day", "19.99"],
    ["tokens_per_day", "off"],
    ["unknown_price", "refuse"],
  ]);
});

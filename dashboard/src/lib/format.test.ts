import { expect, test } from "bun:test";
import {
  durationBetween,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatElapsed,
  formatEnd,
  formatRelative,
  formatUntil,
  formatUtc,
  inSentence,
  plural,
} from "./format.ts";

test("a title keeps its abbreviations within a sentence", () => {
  expect(["API keys", "Memory stores", "Audit log"].map(inSentence)).toEqual([
    "API keys",
    "memory stores",
    "audit log",
  ]);
});

test("a cost at an estimated price has a ≈, but nothing costs nothing", () => {
  expect([formatCost(0.5, true), formatCost(0.00001, true), formatCost(0, true), formatCost(null, true)]).toEqual([
    "≈ $0.5000",
    "≈ <$0.0001",
    "$0.00",
    "–",
  ]);
});

test("an unknown value is never shown as zero", () => {
  expect([formatDuration(null), formatCost(undefined), formatCount(null)]).toEqual(["–", "–", "–"]);
  expect([formatDuration(0), formatCost(0), formatCount(0)]).toEqual(["0 ms", "$0.00", "0"]);
});

test.each([
  [388, "388 ms"],
  [999, "999 ms"],
  [999.6, "1.00 s"],
  [2840, "2.84 s"],
  [9994, "9.99 s"],
  [9996, "10.0 s"],
  [62_400, "62.4 s"],
  [99_960, "1 min 39 s"],
  [1_903_000, "31 min 43 s"],
  [7_200_000, "2 h"],
  [270_000_000, "3 d 3 h"],
])("%d ms reads as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("running durations are in whole seconds", () => {
  expect([formatElapsed(-5), formatElapsed(3999), formatElapsed(62_000)]).toEqual(["0 s", "3 s", "1 min 2 s"]);
});

test("a cost has four decimals, and a tiny cost is not zero", () => {
  expect([formatCost(0.01861), formatCost(1234.5), formatCost(0.00001)]).toEqual([
    "$0.0186",
    "$1,234.5000",
    "<$0.0001",
  ]);
});

test("times are relative within a day and dates afterwards", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  const ago = (ms: number) => formatRelative(new Date(now - ms).toISOString(), now);
  expect([ago(0), ago(-5000), ago(12_000), ago(1_860_000), ago(18_000_000)]).toEqual([
    "just now",
    "just now",
    "12 s ago",
    "31 min ago",
    "5 h ago",
  ]);
  expect(ago(3 * 86_400_000)).toContain("18 Nov");
  expect(ago(400 * 86_400_000)).toContain("2025");
});

test("UTC times include milliseconds", () => {
  expect(formatUtc("2026-11-21T01:20:00.123Z")).toBe("2026-11-21 01:20:00.123 UTC");
});

test("a span needs both ends", () => {
  expect(durationBetween("2026-11-21T01:20:00.000Z", "2026-11-21T01:20:02.500Z")).toBe(2500);
  expect(durationBetween("2026-11-21T01:20:00.000Z", null)).toBeNull();
});

test("counts agree with their nouns, and sizes have units", () => {
  expect([plural(1, "run"), plural(1900, "run")]).toEqual(["1 run", "1,900 runs"]);
  expect([912, 2100, 1_400_000, 61_782_000_000].map(formatBytes)).toEqual(["912 B", "2.1 kB", "1.4 MB", "61.8 GB"]);
});

test("a future time shows the time remaining, and a distant one its date", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  const after = (seconds: number) => formatUntil(new Date(now + seconds * 1000).toISOString(), now);
  expect([0, 12, 600, 76_000, 3 * 86_400, 61 * 86_400].map(after)).toEqual([
    "now",
    "in 12 s",
    "in 10 min",
    "in 21 h",
    "in 3 days",
    "in 61 days",
  ]);
  expect(after(200 * 86_400)).toBe("9 Jun 2027");
});

test("an end is today, tomorrow or a date", () => {
  const now = new Date(2026, 10, 21, 14, 42).getTime();
  expect(formatEnd(now + 3_600_000, now)).toBe("today 15:42");
  expect(formatEnd(now + 86_400_000, now)).toBe("tomorrow 14:42");
  expect(formatEnd(now + 3 * 86_400_000, now)).toBe("Tue 24 Nov, 14:42");
});

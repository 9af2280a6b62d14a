import { expect, test } from "bun:test";
import { costDelta, countDelta, timeDelta } from "./delta-words.ts";

test("durations differ by an amount, and tokens and cost by a share", () => {
  expect(timeDelta(13_600, 9600)).toEqual({ text: "9.60 s, 4.00 s less", change: "less" });
  expect(countDelta(9304, 7120)).toEqual({ text: "7,120, 23% less", change: "less" });
  expect(costDelta(0.0121, 0.0186)).toEqual({ text: "$0.0186, 54% more", change: "more" });
});

test("values that look equal count as equal, and unknown values are not compared", () => {
  expect(costDelta(0.01210001, 0.0121)).toEqual({ text: "$0.0121, the same", change: "same" });
  expect(countDelta(null, 12)).toEqual({ text: "12", change: "unknown" });
  expect(countDelta(12, null)).toEqual({ text: "–", change: "unknown" });
});

test("zero has no share, and a very large share becomes a multiple", () => {
  expect(countDelta(0, 12)).toEqual({ text: "12", change: "more" });
  expect(countDelta(10, 1210)).toEqual({ text: "1,210, 120 times more", change: "more" });
  expect(countDelta(10_000, 10_001).text).toBe("10,001, under 1% more");
});

import { expect, test } from "bun:test";
import { throttle } from "./throttle.ts";

test("calls within the interval share one result, and later ones get a new one", () => {
  let count = 0;
  const [seldom, always] = [60_000, 0].map((ms) => throttle(ms, () => ++count));
  expect([seldom!(), seldom!(), seldom!()]).toEqual([1, 1, 1]);
  expect([always!(), always!()]).toEqual([2, 3]);
});

test("does not call while the known result is fresh", () => {
  const [seldom, always] = [60_000, 0].map((ms) => throttle<string>(ms, () => "asked", "known"));
  expect([seldom!(), always!()]).toEqual(["known", "asked"]);
});

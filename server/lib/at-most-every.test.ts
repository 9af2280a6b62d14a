import { expect, test } from "bun:test";
import { atMostEvery } from "./at-most-every.ts";

test("is asked once for all who want to know within the time, and anew by those who come later", () => {
  let count = 0;
  const [seldom, always] = [60_000, 0].map((ms) => atMostEvery(ms, () => ++count));
  expect([seldom!(), seldom!(), seldom!()]).toEqual([1, 1, 1]);
  expect([always!(), always!()]).toEqual([2, 3]);
});

test("is not asked while the known answer still counts", () => {
  const [seldom, always] = [60_000, 0].map((ms) => atMostEvery<string>(ms, () => "asked", "known"));
  expect([seldom!(), always!()]).toEqual(["known", "asked"]);
});

import { expect, test } from "bun:test";
import { createRefusals } from "./refusals.ts";

test("some failed sign-ins a minute are noted, and then how many more there were", () => {
  let at = 1_000_000;
  const refusals = createRefusals(() => at);
  const take = (count: number) => Array.from({ length: count }, () => refusals.take());
  expect(take(33)).toEqual([...Array(30).fill({}), null, null, null]);
  at += 59_999;
  expect(take(1)).toEqual([null]);
  at += 1;
  expect(take(2)).toEqual([{ not_noted: 4 }, {}]);
  at -= 3_600_000; // The clock was set back.
  expect(take(31)).toEqual([...Array(30).fill({}), null]);
});

import { expect, test } from "bun:test";
import { createBreaker } from "./breaker.ts";

test("what failed is not asked for a while, then by one, and by all once it works", () => {
  let now = 0;
  const breaker = createBreaker<string>({ rest_ms: 10, now: () => now });
  expect(breaker.refusal("a")).toBeNull();
  breaker.failed("a", "It is away.");
  now = 9;
  expect([breaker.refusal("a"), breaker.refusal("b")]).toEqual(["It is away.", null]);
  now = 10;
  expect([breaker.refusal("a"), breaker.refusal("a")]).toEqual([null, "It is away."]);
  now = 20; // Nobody has heard of the one that asked: the next one does.
  expect([breaker.refusal("a"), breaker.refusal("a")]).toEqual([null, "It is away."]);
  breaker.worked("a");
  expect([breaker.refusal("a"), breaker.refusal("a")]).toEqual([null, null]);
});

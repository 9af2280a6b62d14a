import { expect, test } from "bun:test";
import { createBreaker } from "./breaker.ts";

test("after a failure, calls are refused for a while; then one call retries, and all may after it works", () => {
  let now = 0;
  const breaker = createBreaker<string>({ rest_ms: 10, now: () => now });
  expect(breaker.refusal("a")).toBeNull();
  breaker.failed("a", "It is away.");
  now = 9;
  expect([breaker.refusal("a"), breaker.refusal("b")]).toEqual(["It is away.", null]);
  now = 10;
  expect([breaker.refusal("a"), breaker.refusal("a")]).toEqual([null, "It is away."]);
  now = 20; // The caller that retried has not reported back, so the next one retries.
  expect([breaker.refusal("a"), breaker.refusal("a")]).toEqual([null, "It is away."]);
  breaker.worked("a");
  expect([breaker.refusal("a"), breaker.refusal("a")]).toEqual([null, null]);
});

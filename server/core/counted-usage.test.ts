import { expect, test } from "bun:test";
import { countedUsage } from "./counted-usage.ts";
import { noUsage, unknownRunUsage } from "./usage.ts";

test("of a run that works, waits or is queued nothing is counted before its first model call has ended", () => {
  for (const status of ["queued", "in_progress", "requires_action"] as const) {
    expect(countedUsage({ status, usage: noUsage })).toBeNull();
    const once = { ...noUsage, model_calls: 1, total_tokens: 12 };
    expect(countedUsage({ status, usage: once })).toBe(once);
    // What a guardrail's model has used before.
    const judged = { ...noUsage, total_tokens: 3 };
    expect(countedUsage({ status, usage: judged })).toBe(judged);
  }
});

test("a run that is over has used what it says: nothing, or an amount that is not known", () => {
  for (const status of ["completed", "failed", "cancelled"] as const)
    for (const usage of [noUsage, unknownRunUsage]) expect(countedUsage({ status, usage })).toBe(usage);
  expect(countedUsage({ status: "completed" })).toBeNull();
});

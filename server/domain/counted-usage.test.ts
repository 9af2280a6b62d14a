import { expect, test } from "bun:test";
import { countedUsage } from "./counted-usage.ts";
import { noUsage, unknownRunUsage } from "./usage.ts";

test("the usage of an active run is null until its first model call has ended", () => {
  for (const status of ["queued", "in_progress", "requires_action"] as const) {
    expect(countedUsage({ status, usage: noUsage })).toBeNull();
    const once = { ...noUsage, model_calls: 1, total_tokens: 12 };
    expect(countedUsage({ status, usage: once })).toBe(once);
    // Usage of a guardrail's model before the call.
    const judged = { ...noUsage, total_tokens: 3 };
    expect(countedUsage({ status, usage: judged })).toBe(judged);
  }
});

test("the usage of a run that is over is returned as recorded, also if it is zero or unknown", () => {
  for (const status of ["completed", "failed", "cancelled"] as const)
    for (const usage of [noUsage, unknownRunUsage]) expect(countedUsage({ status, usage })).toBe(usage);
  expect(countedUsage({ status: "completed" })).toBeNull();
});

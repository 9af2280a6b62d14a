import { expect, test } from "bun:test";
import { activityOf, successWords } from "./activity-of.ts";

const counted = { count: 4, completed: 3, failed: 1, cancelled: 0, average_ms: 20 };
const more = { input_tokens: 0, output_tokens: 0, cost_usd: 0 };
const data = [{ object: "analytics_series" as const, name: "agt_1", ...counted, ...more, points: [] }];

test("a name missing in a complete report has no activity, and in a truncated report its activity is unknown", () => {
  expect(activityOf({ data, has_more: false }, "agt_1")).toMatchObject(counted);
  expect(activityOf({ data, has_more: false }, "agt_2")).toMatchObject({ count: 0 });
  expect(activityOf({ data, has_more: true }, "agt_2")).toBeNull();
  expect(activityOf(undefined, "agt_1")).toBeNull();
});

test("the success rate ignores cancelled runs and never rounds a failure away", () => {
  const words = (completed: number, failed: number) => successWords({ ...counted, completed, failed });
  expect([words(3, 1), words(10_000, 1), words(5, 0), words(0, 2), words(0, 0)]).toEqual([
    "75%",
    "99%",
    "100%",
    "0%",
    "–",
  ]);
});

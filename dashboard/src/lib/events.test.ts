import { expect, test } from "bun:test";
import { resumeUrl, retryDelay, toFrame } from "./events.ts";

test("a stream that was refused goes on after the last id it has seen", () => {
  expect(resumeUrl("/runs/run_1/events", "")).toBe("/runs/run_1/events");
  expect(resumeUrl("/runs/run_1/events", "12.340")).toBe("/runs/run_1/events?starting_after=12.340");
});

test("refusals are tried again ever more slowly, but never less than twice a minute", () => {
  expect([0, 1, 2, 3, 4, 50].map(retryDelay)).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test("data that is no JSON object is passed over", () => {
  expect(toFrame("token", { data: "{broken", lastEventId: "1" })).toBeNull();
  expect(toFrame("token", { data: "null", lastEventId: "1" })).toBeNull();
  expect(toFrame("token", { data: '{"seq":2}', lastEventId: "2.5" })).toMatchObject({
    id: "2.5",
    event: "token",
    data: { seq: 2 },
  });
});

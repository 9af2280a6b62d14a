import { describe, expect, test } from "bun:test";
import { enterStatus, timingAt, timingOf } from "./timing.ts";

const begun = { status: "in_progress", status_since_ms: 1000, worked_ms: 0 } as const;

describe("the timing of a run", () => {
  test("time in progress is work, time waiting for an action is not, and both add up to the whole run", () => {
    const waiting = enterStatus(begun, "requires_action", 1400);
    const resumed = enterStatus(waiting, "in_progress", 61_400);
    const over = enterStatus(resumed, "completed", 61_500);
    const run = { ...over, started_at: 1000, updated_at: 61_500, ended_at: 61_500 };
    expect(timingOf(run, 0)).toEqual({ worked_ms: 500, waited_ms: 60_000, recorded_ms: 0, as_of: 61_500 });
  });

  test("a queue is neither work nor waiting", () => {
    const queued = enterStatus(begun, "queued", 1000);
    const started = enterStatus(queued, "in_progress", 9000);
    const run = { ...started, started_at: 9000, updated_at: 9300, ended_at: null };
    expect(timingOf(run, null)).toEqual({ worked_ms: 300, waited_ms: 0, recorded_ms: null, as_of: 9300 });
  });

  test("the current activity grows with the clock, and finished ones do not", () => {
    const timing = { worked_ms: 300, waited_ms: 20, recorded_ms: 7, as_of: new Date(1000).toISOString() };
    const at = (status: "in_progress" | "requires_action" | "completed") => timingAt({ status, timing }, 1500);
    expect(at("in_progress")).toEqual({ worked_ms: 800, waited_ms: 20, recorded_ms: 7 });
    expect(at("requires_action")).toEqual({ worked_ms: 300, waited_ms: 520, recorded_ms: 7 });
    expect(at("completed")).toEqual({ worked_ms: 300, waited_ms: 20, recorded_ms: 7 });
  });

  test("a clock that is behind takes nothing away, and a run of which nothing is known has no figures", () => {
    const timing = { worked_ms: 300, waited_ms: 0, recorded_ms: 0, as_of: new Date(1000).toISOString() };
    expect(timingAt({ status: "in_progress", timing }, 0)!.worked_ms).toBe(300);
    expect(timingAt({ status: "completed", timing: null }, 0)).toBeNull();
  });
});

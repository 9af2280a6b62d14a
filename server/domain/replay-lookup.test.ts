import { expect, test } from "bun:test";
import { replayPosition, replayResult } from "./replay-lookup.ts";
import type { RecordedCall, RunCreated } from "./run-event.ts";
import type { ToolCall } from "./run-state.ts";

const call = (args: Record<string, unknown>, output: unknown): RecordedCall => ({
  tool: "pay",
  arguments: args,
  status: "completed",
  output,
  error: null,
});
const calls = [call({ to: "a", sum: 1 }, "first"), call({ to: "b" }, "other"), call({ to: "a", sum: 1 }, "second")];
const state = (mode: "recorded_then_live" | "recorded_only" | null, taken: number[] = []) => ({
  run: { ...(mode && { recorded: { mode, calls } }) } as RunCreated,
  calls: taken.map((recorded) => ({ recorded }) as ToolCall),
});
const asked = { tool: "pay", arguments: { sum: 1, to: "a" } };

test("the nth call that asks the same gets the nth result, whatever the order of its arguments", () => {
  expect(replayPosition(state("recorded_then_live"), asked)).toBe(0);
  expect(replayPosition(state("recorded_then_live", [0]), asked)).toBe(2);
  expect(replayPosition(state("recorded_then_live"), asked, new Set([0]))).toBe(2);
  expect(replayPosition(state("recorded_then_live", [1]), asked)).toBe(0);
});

test("a call that asks for something else, or once more than the record did, is run or not, as was said", () => {
  for (const [taken, ask] of [
    [[0, 2], asked],
    [[], { ...asked, tool: "buy" }],
    [[], { ...asked, arguments: { to: "a" } }],
  ] as const) {
    expect(replayPosition(state("recorded_then_live", [...taken]), ask)).toBeNull();
    expect(replayPosition(state("recorded_only", [...taken]), ask)).toBe(-1);
    expect(replayPosition(state(null, [...taken]), ask)).toBeNull();
  }
});

test("the result is the one that the request names, or an error for none", () => {
  expect(replayResult(state("recorded_then_live"), { recorded: 2 })).toMatchObject({ output: "second" });
  expect(replayResult(state("recorded_only"), { recorded: -1 })).toMatchObject({
    status: "failed",
    output: null,
    error: { code: "not_recorded" },
  });
  expect(replayResult(state("recorded_only"), {})).toBeNull();
});

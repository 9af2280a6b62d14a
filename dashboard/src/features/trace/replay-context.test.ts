import { expect, test } from "bun:test";
import { replayProgress } from "./replay-context.ts";

test.each([
  [null, 10, 20, "all"],
  [5, 10, 20, "nothing"],
  [10, 10, 20, "part"],
  [19, 10, 20, "part"],
  [20, 10, 20, "all"],
  [25, 10, 20, "all"],
  [5, 10, null, "all"],
] as const)("a replay at %p shows of a step from %p to %p: %s", (replay, start, end, word) => {
  expect(replayProgress(replay, { start, end })).toBe(word);
});

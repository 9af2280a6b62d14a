import { expect, test } from "bun:test";
import type { JournalEntry } from "../../../../server/domain/run-event.ts";
import { streamedLength } from "./grown-text.ts";

const raw = [
  { seq: 1, at: 1000, event: { type: "step.started" } },
  {
    seq: 2,
    at: 1500,
    event: {
      type: "step.completed",
      answer: {
        parts: [
          { type: "reasoning", text: "Hm" },
          { type: "text", text: "Hello there" },
        ],
        deltas: [0, 2, 50, 1, 5, 100, 1, 6, 300],
      },
    },
  },
] as JournalEntry[];

test("text is counted as it arrived, without reasoning", () => {
  expect([1000, 1099, 1100, 1299, 1300].map((time) => streamedLength(raw, time))).toEqual([0, 0, 5, 5, 11]);
  expect(streamedLength(raw, 1500)).toBe(Number.POSITIVE_INFINITY);
});

test("the length is unknown if the step did not complete", () => {
  expect(streamedLength(raw.slice(0, 1), 1200)).toBeNull();
});

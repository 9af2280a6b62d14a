import { expect, test } from "bun:test";
import type { JournalEntry } from "../../../../server/core/run-event.ts";
import { grownLength } from "./grown-text.ts";

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

test("text is there as it arrived, without what was thought", () => {
  expect([1000, 1099, 1100, 1299, 1300].map((time) => grownLength(raw, time))).toEqual([0, 0, 5, 5, 11]);
  expect(grownLength(raw, 1500)).toBe(Number.POSITIVE_INFINITY);
});

test("a step that did not complete tells nothing of it", () => {
  expect(grownLength(raw.slice(0, 1), 1200)).toBeNull();
});

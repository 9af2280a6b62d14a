import { expect, test } from "bun:test";
import { adjacentTime, momentsOf, rowAt, stepMarksOf } from "./moments.ts";
import type { Row } from "./row.ts";

const row = (key: string, type: string, start: number, end: number | null): Row =>
  ({ key, type, start, end, kind: key === "run" ? "run" : "step", level: key === "run" ? 1 : 2 }) as Row;
const rows = [row("run", "run", 0, 100), row("0", "model_call", 0, 40), row("1", "tool_call", 40, 90)];

test("the replay steps from one moment to the next and stops at the last", () => {
  expect(momentsOf(rows)).toEqual([0, 40, 90]);
  expect(adjacentTime([0, 40, 90], 0, 1)).toBe(40);
  expect(adjacentTime([0, 40, 90], 40, -1)).toBe(0);
  expect(adjacentTime([0, 40, 90], 90, 1)).toBeNull();
});

test("the replay is at the step that started last", () => {
  expect(rowAt(rows, 39)?.key).toBe("0");
  expect(rowAt(rows, 40)?.key).toBe("1");
  expect(rowAt(rows, -1)?.key).toBe("run");
});

test("of steps that started together, the longest determines the mark's colour", () => {
  const both = [row("0", "guardrail", 0, 0), row("1", "retrieval", 0, 50), row("2", "tool_call", 0, 20)];
  expect(stepMarksOf(both, (time) => time / 100, 100)).toEqual([{ type: "retrieval", left: 0, right: 0.5 }]);
});

test("thousands of steps are merged into distinguishable marks", () => {
  expect(stepMarksOf(rows, (time) => time / 100, 100)).toEqual([
    { type: "model_call", left: 0, right: 0.4 },
    { type: "tool_call", left: 0.4, right: 0.9 },
  ]);
  const many = Array.from({ length: 5000 }, (_, i) => row(String(i), i % 2 ? "tool_call" : "model_call", i, i + 1));
  expect(stepMarksOf(many, (time) => time / 5000, 5000).length).toBeLessThanOrEqual(400);
});

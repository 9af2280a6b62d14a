import { expect, test } from "bun:test";
import { caseLines, type ShownCase } from "./suite-lines.ts";

const found = { step_index: 2, kind: "tool_call", message: "weather is\u001b[2J asked otherwise." };
const live = { run_id: "run_2", status: "completed", output_equal: true, cost_usd: 0.0007, error: null };

const linesOf = (more: Partial<ShownCase>): string[] =>
  caseLines({
    run_id: "run_1",
    status: "diverged",
    matched_steps: 1,
    divergences_count: 1,
    first_divergence: found,
    live: null,
    error: null,
    ...more,
  });

const liveOf = (more: Partial<NonNullable<ShownCase["live"]>>): string => linesOf({ live: { ...live, ...more } })[1]!;

test("a case is a line with its result, and cannot move the cursor", () => {
  expect(linesOf({ status: "equal", first_divergence: null })).toEqual(["✓ run_1  1 step equal"]);
  expect(linesOf({})).toEqual(["✗ run_1  step 2, tool_call: weather is\ufffd[2J asked otherwise."]);
  expect(linesOf({ divergences_count: 3 })).toEqual([expect.stringMatching(/ \(and 2 more\)$/)]);
  expect(linesOf({ status: "failed", first_divergence: null, error: { message: "Gone." } })).toEqual([
    "✗ run_1  Gone.",
  ]);
  expect(linesOf({ status: "pending", first_divergence: null })).toEqual(["✗ run_1  Not looked at."]);
});

test("a second line has the result of the live run: the same output, another one, a failure, or skipped", () => {
  const error = { message: "Too dear." };
  expect(liveOf({})).toBe("  live: the same output (run_2, $0.0007)");
  expect(liveOf({ output_equal: false, cost_usd: null })).toBe("  live: another output (run_2)");
  expect(liveOf({ output_equal: false, status: "failed", error })).toBe("  live: failed (run_2, $0.0007): Too dear.");
  expect(liveOf({ run_id: null, status: "skipped", output_equal: null, error })).toBe("  live: not gone on: Too dear.");
});

import { expect, test } from "bun:test";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { runLine, runSubject, waitLine } from "./run-line.ts";

const run = (part: Partial<Run>) =>
  ({ output: null, error: null, required_action: null, queue_position: null, ...part }) as Run;
const call = { tool_call_id: "call_1", tool_id: "tool_1", arguments: {}, expires_at: "2026-11-22T00:00:00.000Z" };

test("a failed run shows its code, its message and its step", () => {
  const error = {
    type: "run_error" as const,
    code: "budget_exceeded" as const,
    message: "The budget is spent.",
    step_index: 0,
    retryable: false,
  };
  expect(runLine(run({ status: "failed", error }))).toEqual({
    text: "budget_exceeded: The budget is spent. Step 0.",
    tone: "bad",
  });
});

test("a run is listed by its input, and a fact-learning run by its source run", () => {
  const asked = [{ role: "user" as const, content: "Where is\nit?" }];
  expect(runSubject({ input: asked, metadata: {} })).toBe("Where is it?");
  expect(runSubject({ input: '{"known":[]}', metadata: { learns_from: "run_1" } })).toBe("Learns facts about run_1");
});

test("a waiting run shows its first pending call and the number of others", () => {
  expect(waitLine([{ ...call, name: "refund", needs: "approval" }])).toBe("Waiting for approval: refund");
  expect(waitLine([{ ...call, name: "refund", needs: "reconcile" }])).toBe("Outcome unknown: refund");
  expect(
    waitLine([
      { ...call, name: "refund", needs: "output" },
      { ...call, name: "b", needs: "output" },
    ]),
  ).toBe("Waiting for the output of refund and 1 more");
});

test("a multi-line output is shortened to one line", () => {
  expect(runLine(run({ status: "completed", output: "a\n\n  b\tc" })).text).toBe("a b c");
  expect(runSubject({ input: "x".repeat(1_000_000), metadata: {} })).toHaveLength(400);
});

test("a completed run without text shows as completed", () => {
  expect(runLine(run({ status: "completed", output: "" })).text).toBe("Completed without text");
});

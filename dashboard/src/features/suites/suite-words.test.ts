import { expect, test } from "bun:test";
import type {
  SuiteCase as CaseResult,
  SuiteRunListItem as SuiteRun,
} from "../../../../server/domain/api-types/suite.ts";
import { caseLine, countWords, liveWords, shellWord } from "./suite-words.ts";

const counts = (more: Partial<SuiteRun["counts"]>): SuiteRun["counts"] => ({
  total: 4,
  pending: 0,
  equal: 4,
  diverged: 0,
  failed: 0,
  ...more,
});

test.each([
  ["passed", counts({}), "4 of 4 equal"],
  ["diverged", counts({ equal: 3, diverged: 1 }), "3 of 4 equal, 1 diverged"],
  ["failed", counts({ equal: 2, diverged: 1, failed: 1 }), "2 of 4 equal, 1 diverged, 1 failed"],
  ["in_progress", counts({ equal: 1, pending: 3 }), "1 of 4 done"],
  ["cancelled", counts({ equal: 1, pending: 3 }), "1 of 4 equal, 3 not run"],
] as const)("a suite run that is %s is described by counts", (status, counts, words) => {
  expect(countWords({ status, counts })).toBe(words);
});

const result = (more: Partial<CaseResult>): CaseResult => ({
  run_id: "run_1",
  agent_id: "agt_1",
  status: "equal",
  agent_version: 1,
  matched_steps: 3,
  divergences_count: 0,
  divergences: [],
  first_divergence: null,
  live: null,
  error: null,
  ...more,
});
const divergence = {
  step_index: 2,
  kind: "tool_call" as const,
  message: "Other arguments.",
  expected_hash: "a",
  actual_hash: "b",
};

test.each([
  ["that nobody looked at", null, "Not run yet"],
  ["that is equal", result({}), "3 steps equal"],
  [
    "that diverged once",
    result({ status: "diverged", divergences_count: 1, divergences: [divergence] }),
    "Step 2, tool call: Other arguments.",
  ],
  [
    "that diverged often",
    result({ status: "diverged", divergences_count: 9, divergences: [divergence] }),
    "Step 2, tool call: Other arguments. And 8 more.",
  ],
  [
    "that failed",
    result({ status: "failed", error: { code: "agent_deleted", message: "The agent was deleted." } }),
    "The agent was deleted.",
  ],
] as const)("a case %s is described in one line", (_, result, line) => {
  expect(caseLine(result)).toBe(line);
});

test("live continuations with equal, different and no output have different labels", () => {
  const none = { run_id: "run_2", output: null, diff: null, cost_usd: null, total_tokens: null, error: null };
  expect(liveWords({ ...none, status: "completed", output_equal: true })).toBe("Same output");
  expect(liveWords({ ...none, status: "completed", output_equal: false })).toBe("Different output");
  expect(liveWords({ ...none, run_id: null, status: "skipped", output_equal: null })).toBe("No fork");
});

test.each([
  ["weather", "weather"],
  ["Refund desk", "'Refund desk'"],
  ["it's", "'it'\\''s'"],
  ["--live", "'--live'"],
])("a shell reads the quoted name %s as one word", (name, word) => {
  expect(shellWord(name)).toBe(word);
});

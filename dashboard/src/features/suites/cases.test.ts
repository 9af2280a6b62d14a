import { expect, test } from "bun:test";
import type { CaseStatus } from "../../../../server/domain/api-types/enums.ts";
import type { SuiteCase as CaseResult, PinnedRun as PinnedCase } from "../../../../server/domain/api-types/suite.ts";
import { canBePinned, filterByOutcome, joinCases, runIdsIn } from "./cases.ts";

const pinned = (run_id: string): PinnedCase => ({
  run_id,
  position: 0,
  agent_id: "agt_1",
  status: "completed",
  input: "Sure?",
  output: "Yes.",
});
const result = (run_id: string, status: CaseStatus): CaseResult => ({
  run_id,
  agent_id: "agt_1",
  status,
  agent_version: 2,
  matched_steps: 1,
  divergences_count: 0,
  divergences: [],
  first_divergence: null,
  live: null,
  error: null,
});

test("each case is paired with its outcome, in the suite's order", () => {
  const joined = joinCases([pinned("run_b"), pinned("run_a")], [result("run_a", "equal"), result("run_b", "diverged")]);
  expect(joined.map(({ run_id, result }) => [run_id, result?.status])).toEqual([
    ["run_b", "diverged"],
    ["run_a", "equal"],
  ]);
});

test("a case added since has no outcome, and a removed one comes last", () => {
  const joined = joinCases([pinned("run_new")], [result("run_old", "failed")]);
  expect(joined.map(({ run_id, pinned, result }) => [run_id, pinned !== null, result?.status ?? null])).toEqual([
    ["run_new", true, null],
    ["run_old", false, "failed"],
  ]);
});

test("an outcome filters the cases", () => {
  const joined = joinCases([pinned("run_a"), pinned("run_b")], [result("run_a", "equal"), result("run_b", "diverged")]);
  expect(filterByOutcome(joined, "diverged").map(({ run_id }) => run_id)).toEqual(["run_b"]);
  expect(filterByOutcome(joined, undefined)).toHaveLength(2);
});

test("a run can be added if it has ended and its trace exists", () => {
  expect(canBePinned({ status: "failed", trace_id: "trc_1" })).toBe(true);
  expect(canBePinned({ status: "in_progress", trace_id: "trc_1" })).toBe(false);
  expect(canBePinned({ status: "completed", trace_id: null })).toBe(false);
});

const id = "run_01m7zf0k46aztc1czevwfbr71j";

test("ids are found between spaces, commas and line breaks, each once", () => {
  expect(runIdsIn(` ${id},\n${id}; run_01m7zf0k4nvtje7gb6dbpxkkt4 `)).toEqual({
    ids: [id, "run_01m7zf0k4nvtje7gb6dbpxkkt4"],
    others: [],
  });
});

test("words that are no run ids are returned separately", () => {
  expect(runIdsIn(`agt_1 ${id}`)).toEqual({ ids: [id], others: ["agt_1"] });
});

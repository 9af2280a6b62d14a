import { expect, test } from "bun:test";
import type { CaseStatus } from "../../../../server/wire/names.ts";
import type { SuiteCase as CaseResult, PinnedRun as PinnedCase } from "../../../../server/wire/suite.ts";
import { canBePinned, joinCases, ofOutcome, runIdsIn } from "./cases.ts";

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

test("each case stands beside its outcome, in the order of the suite", () => {
  const joined = joinCases([pinned("run_b"), pinned("run_a")], [result("run_a", "equal"), result("run_b", "diverged")]);
  expect(joined.map(({ run_id, result }) => [run_id, result?.status])).toEqual([
    ["run_b", "diverged"],
    ["run_a", "equal"],
  ]);
});

test("a case that was put in since has no outcome, and one that was taken out since stands last", () => {
  const joined = joinCases([pinned("run_new")], [result("run_old", "failed")]);
  expect(joined.map(({ run_id, pinned, result }) => [run_id, pinned !== null, result?.status ?? null])).toEqual([
    ["run_new", true, null],
    ["run_old", false, "failed"],
  ]);
});

test("of one outcome, only its cases are left", () => {
  const joined = joinCases([pinned("run_a"), pinned("run_b")], [result("run_a", "equal"), result("run_b", "diverged")]);
  expect(ofOutcome(joined, "diverged").map(({ run_id }) => run_id)).toEqual(["run_b"]);
  expect(ofOutcome(joined, undefined)).toHaveLength(2);
});

test("a run can be added once it is over, as long as its trace is there", () => {
  expect(canBePinned({ status: "failed", trace_id: "trc_1" })).toBe(true);
  expect(canBePinned({ status: "in_progress", trace_id: "trc_1" })).toBe(false);
  expect(canBePinned({ status: "completed", trace_id: null })).toBe(false);
});

const id = "run_01m7zf0k46aztc1czevwfbr71j";

test("ids are found between blanks, commas and lines, each once", () => {
  expect(runIdsIn(` ${id},\n${id}; run_01m7zf0k4nvtje7gb6dbpxkkt4 `)).toEqual({
    ids: [id, "run_01m7zf0k4nvtje7gb6dbpxkkt4"],
    others: [],
  });
});

test("what is no id of a run is told apart", () => {
  expect(runIdsIn(`agt_1 ${id}`)).toEqual({ ids: [id], others: ["agt_1"] });
});

import type { RunStatus } from "../../lib/types.ts";

/** What is known of each suite. */
export interface Suite {
  id: string;
  name: string;
  description: string | null;
  cases_count: number;
  created_at: string;
  updated_at: string;
}

/** A suite as lists show it. */
export interface ListedSuite extends Suite {
  last_suite_run: SuiteRun | null;
}

/** A run that a suite pins. */
export interface PinnedCase {
  run_id: string;
  agent_id: string;
  status: RunStatus;
  /** The head of its output. */
  output: string | null;
}

/** A suite with all that it pins. */
export interface SuiteWithCases extends Suite {
  cases: PinnedCase[];
}

/** How a suite run stands. */
export type SuiteRunStatus = "in_progress" | "passed" | "diverged" | "failed" | "cancelled";

export const caseStatuses = ["pending", "equal", "diverged", "failed"] as const;
/** What a case came to. */
export type CaseStatus = (typeof caseStatuses)[number];

/** What cases that diverged may spend, all together. */
export interface Live {
  max_cost_usd?: number;
  max_total_tokens?: number;
  max_runs?: number;
}

/** One performance of a suite. */
export interface SuiteRun {
  id: string;
  status: SuiteRunStatus;
  counts: Record<CaseStatus | "total", number>;
  live: Live | null;
  created_at: string;
  ended_at: string | null;
}

/** It, with what came of each case. */
export interface SuiteRunWithCases extends SuiteRun {
  cases: CaseResult[];
}

/** What came of one case. */
export interface CaseResult {
  run_id: string;
  agent_id: string;
  status: CaseStatus;
  agent_version: number | null;
  matched_steps: number;
  divergences_count: number;
  /** The first of them. */
  divergences: Divergence[];
  live: LiveResult | null;
  error: CaseError | null;
}

/** A place where a replay would not do what the record says. */
export interface Divergence {
  step_index: number;
  kind: string;
  message: string;
  /** Both, where they are short enough to be read. */
  expected?: unknown;
  actual?: unknown;
}

/** Why a case has no verdict, or a fork no output. */
interface CaseError {
  code: string;
  message: string;
}

/** How a case that diverged went on with its model. */
export interface LiveResult {
  run_id: string | null;
  status: RunStatus | "skipped";
  output_equal: boolean | null;
  output: string | null;
  diff: Record<"equal" | "changed" | "only_a" | "only_b", number> | null;
  cost_usd: number | null;
  total_tokens: number | null;
  error: CaseError | null;
}

import type { CodedError } from "../core/errors.ts";
import type { Divergence } from "../core/run-event.ts";
import type { RunStatus } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { suiteCases, suiteRunCases, suiteRuns, suites } from "../db/schema.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import { type CaseStatus, caseStatuses } from "../wire/names.ts";
import { changeable } from "../wire/schema.ts";
import type { Live } from "./schema.ts";

/** A suite as the table holds it, and how many runs it pins. */
export type SuiteRow = typeof suites.$inferSelect & { cases_count: number };

/** A pinned run. It is over: what is known of it here, with the head of its output, does not change. */
export type PinnedRow = Omit<typeof suiteCases.$inferSelect, keyof Scope | "suite_id">;

/** Where nothing goes on live, `live` is null. */
export type SuiteRunRow = typeof suiteRuns.$inferSelect;

export type CaseRow = Omit<typeof suiteRunCases.$inferSelect, keyof Scope | "suite_run_id">;

/** What a replay of a pinned run came to. */
export interface Comparison {
  /** The agent that it was held against; null where there was none. */
  agent_version: number | null;
  divergences_count: number;
  /** The first of them. */
  divergences: Divergence[];
  matched_steps: number;
  error: CodedError | null;
}

/** How a case that diverged went on live. */
export interface LiveResult {
  /** The fork; null where there is none. */
  run_id: string | null;
  status: RunStatus | "skipped";
  output_equal: boolean | null;
  /** The head of its output. */
  output: string | null;
  diff: Record<"equal" | "changed" | "only_a" | "only_b", number> | null;
  cost_usd: number | null;
  total_tokens: number | null;
  error: CodedError | null;
}

/** What is known of a case. */
export interface CaseResult extends Comparison {
  live: LiveResult | null;
}

const headMax = 200;

/** The beginning of an output, by which people know it again. */
export const headOf = (output: string | null): string | null =>
  output === null || output.length <= headMax ? output : `${output.slice(0, headMax).toWellFormed()}…`;

export function shownSuite(row: SuiteRow) {
  return {
    id: row.id,
    object: "suite" as const,
    name: row.name,
    description: row.description,
    cases_count: row.cases_count,
    ...changeable(row),
  };
}

export type Counts = Record<CaseStatus, number>;

export function shownSuiteRun(row: SuiteRunRow, counts: Counts) {
  return {
    id: row.id,
    object: "suite_run" as const,
    suite_id: row.suite_id,
    status: row.status,
    counts: { total: caseStatuses.reduce((sum, status) => sum + counts[status], 0), ...counts },
    live: row.live as Live | null,
    metadata: row.metadata,
    created_at: timestamp(row.created_at_ms),
    ended_at: timestampOrNull(row.ended_at_ms),
    project_id: row.project_id,
    environment: row.environment,
  };
}

const noResult: CaseResult = {
  agent_version: null,
  divergences_count: 0,
  divergences: [],
  matched_steps: 0,
  error: null,
  live: null,
};

export const resultOf = ({ result }: Pick<CaseRow, "result">): CaseResult | null =>
  result === null ? null : parseExact(result);

/** A case of a suite run as clients see it. */
export function shownCase(row: CaseRow) {
  const { error, live, ...comparison } = resultOf(row) ?? noResult;
  return {
    run_id: row.run_id,
    agent_id: row.agent_id,
    status: row.status,
    ...comparison,
    first_divergence: comparison.divergences[0] ?? null,
    live,
    error,
  };
}

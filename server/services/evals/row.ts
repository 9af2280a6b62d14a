import { type CaseStatus, caseStatuses, type changes } from "../../domain/api-types/enums.ts";
import { changeable } from "../../domain/api-types/schema.ts";
import type { CodedError } from "../../domain/errors.ts";
import type { Divergence } from "../../domain/run-event.ts";
import type { RunStatus } from "../../domain/run-state.ts";
import type { Scope } from "../../domain/scope.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import type { suiteCases, suiteRunCases, suiteRuns, suites } from "../../storage/db/schema.ts";
import type { Live } from "./schema.ts";

/** A suite row with the number of runs it pins. */
export type SuiteRow = typeof suites.$inferSelect & { cases_count: number };

/** A pinned run. It is over, so the copied fields never change. */
export type PinnedRow = Omit<typeof suiteCases.$inferSelect, keyof Scope | "suite_id">;

/** `live` is null if no case continues live. */
export type SuiteRunRow = typeof suiteRuns.$inferSelect;

export type CaseRow = Omit<typeof suiteRunCases.$inferSelect, keyof Scope | "suite_run_id">;

/** Result of replaying a pinned run. */
export interface Comparison {
  /** Version of the agent it was compared with; null if there was none. */
  agent_version: number | null;
  divergences_count: number;
  /** The first divergences. */
  divergences: Divergence[];
  matched_steps: number;
  error: CodedError | null;
}

/** Result of a case that continued live. */
export interface LiveResult {
  /** Id of the fork; null if there is none. */
  run_id: string | null;
  status: RunStatus | "skipped";
  output_equal: boolean | null;
  /** Beginning of its output. */
  output: string | null;
  diff: Record<(typeof changes)[number], number> | null;
  cost_usd: number | null;
  total_tokens: number | null;
  error: CodedError | null;
}

/** Stored result of a case. */
export interface CaseResult extends Comparison {
  live: LiveResult | null;
}

const headMax = 200;

/** Shortens an output to a label. */
export const headOf = (output: string | null): string | null =>
  output === null || output.length <= headMax ? output : `${output.slice(0, headMax).toWellFormed()}…`;

export function serializeSuite(row: SuiteRow) {
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

export function serializeSuiteRun(row: SuiteRunRow, counts: Counts) {
  return {
    id: row.id,
    object: "suite_run" as const,
    suite_id: row.suite_id,
    status: row.status,
    counts: { total: caseStatuses.reduce((sum, status) => sum + counts[status], 0), ...counts },
    live: row.live as Live | null,
    metadata: row.metadata,
    created_at: timestamp(row.created_at_ms),
    completed_at: timestampOrNull(row.ended_at_ms),
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

/** Serializes a case of a suite run for clients. */
export function serializeCase(row: CaseRow) {
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

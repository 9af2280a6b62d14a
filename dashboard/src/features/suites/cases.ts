import type { CaseStatus } from "../../../../server/domain/api-types/enums.ts";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { SuiteCase as CaseResult, PinnedRun as PinnedCase } from "../../../../server/domain/api-types/suite.ts";
import { isId } from "../../../../server/domain/ids.ts";
import { isOver } from "../../../../server/domain/run-state.ts";

/** A case of a suite with its outcome. */
export interface JoinedCase {
  run_id: string;
  agent_id: string;
  /** Null if it was removed from the suite since. */
  pinned: PinnedCase | null;
  /** Null if it was added since, or the suite was never run. */
  result: CaseResult | null;
}

/** Joins cases and results in the suite's order, followed by removed cases. */
export function joinCases(pinned: readonly PinnedCase[], results: readonly CaseResult[]): JoinedCase[] {
  const byRun = new Map(results.map((result) => [result.run_id, result]));
  const known = new Set(pinned.map(({ run_id }) => run_id));
  const removedCases = results.filter(({ run_id }) => !known.has(run_id));
  return [
    ...pinned.map((pinned) => joinCase(pinned, pinned, byRun.get(pinned.run_id) ?? null)),
    ...removedCases.map((result) => joinCase(result, null, result)),
  ];
}

const joinCase = (
  { run_id, agent_id }: PinnedCase | CaseResult,
  pinned: PinnedCase | null,
  result: CaseResult | null,
): JoinedCase => ({ run_id, agent_id, pinned, result });

/** Filters cases by outcome; all of them without one. */
export const filterByOutcome = (cases: readonly JoinedCase[], outcome: CaseStatus | undefined): JoinedCase[] =>
  cases.filter(({ result }) => !outcome || result?.status === outcome);

/** True if the run can be replayed: it has ended and its trace exists. */
export const canBePinned = ({ status, trace_id }: Pick<Run, "status" | "trace_id">): boolean =>
  isOver(status) && trace_id !== null;

/** Finds run ids in a text, each once, and returns other words separately. */
export function runIdsIn(text: string): { ids: string[]; others: string[] } {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const isRun = (word: string) => isId("run", word);
  return { ids: [...new Set(words.filter(isRun))], others: words.filter((word) => !isRun(word)) };
}

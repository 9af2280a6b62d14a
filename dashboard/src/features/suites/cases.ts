import { isId } from "../../../../server/core/ids.ts";
import { isOver } from "../../../../server/core/run-state.ts";
import type { CaseStatus } from "../../../../server/wire/names.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { SuiteCase as CaseResult, PinnedRun as PinnedCase } from "../../../../server/wire/suite.ts";

/** A case of a suite beside what came of it. */
export interface JoinedCase {
  run_id: string;
  agent_id: string;
  /** Null: it was taken out of the suite since. */
  pinned: PinnedCase | null;
  /** Null: it was put into the suite since, or the suite was never run. */
  result: CaseResult | null;
}

/** The cases in the order of the suite; after them those of the suite run that are not in the suite any more. */
export function joinCases(pinned: readonly PinnedCase[], results: readonly CaseResult[]): JoinedCase[] {
  const byRun = new Map(results.map((result) => [result.run_id, result]));
  const known = new Set(pinned.map(({ run_id }) => run_id));
  const gone = results.filter(({ run_id }) => !known.has(run_id));
  return [
    ...pinned.map((pinned) => joined(pinned, pinned, byRun.get(pinned.run_id) ?? null)),
    ...gone.map((result) => joined(result, null, result)),
  ];
}

const joined = (
  { run_id, agent_id }: PinnedCase | CaseResult,
  pinned: PinnedCase | null,
  result: CaseResult | null,
): JoinedCase => ({ run_id, agent_id, pinned, result });

/** Those of one outcome; all of them without one. */
export const ofOutcome = (cases: readonly JoinedCase[], outcome: CaseStatus | undefined): JoinedCase[] =>
  cases.filter(({ result }) => !outcome || result?.status === outcome);

/** Of a run that is not over, or whose trace is gone, nothing could be replayed. */
export const canBePinned = ({ status, trace_id }: Pick<Run, "status" | "trace_id">): boolean =>
  isOver(status) && trace_id !== null;

/** The ids of runs in a text, each once; what is none of one is told apart. */
export function runIdsIn(text: string): { ids: string[]; others: string[] } {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const isRun = (word: string) => isId("run", word);
  return { ids: [...new Set(words.filter(isRun))], others: words.filter((word) => !isRun(word)) };
}

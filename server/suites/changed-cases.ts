import { fault, validationError } from "../http/errors.ts";
import type { PinnedRow } from "./row.ts";
import { casesMax, type UpdateSuite } from "./schema.ts";

/**
 * What a suite pins after a change: `pinned` in place of all, or without those that go and with those that come behind
 * the others. Undefined where the change says nothing of its runs.
 */
export function changedCases(
  cases: readonly PinnedRow[],
  pinned: readonly PinnedRow[],
  { run_ids, add_run_ids, remove_run_ids }: UpdateSuite,
): readonly PinnedRow[] | undefined {
  if (!add_run_ids && !remove_run_ids) return run_ids && pinned;
  const param = add_run_ids ? "add_run_ids" : "remove_run_ids";
  if (run_ids) throw validationError([fault(param, "Give either run_ids, or those that come and go.")]);
  const kept = cases.filter(({ run_id }) => !remove_run_ids?.includes(run_id));
  const known = new Set(kept.map(({ run_id }) => run_id));
  const changed = [...kept, ...pinned.filter(({ run_id }) => !known.has(run_id))];
  if (changed.length === 0) throw validationError([fault(param, "A suite pins at least one run.")]);
  if (changed.length > casesMax) throw validationError([fault(param, `A suite pins at most ${casesMax} runs.`)]);
  return changed.map((each, index) => ({ ...each, position: index + 1 }));
}

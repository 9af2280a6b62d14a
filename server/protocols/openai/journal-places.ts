import type { Scope } from "../../domain/scope.ts";
import { readRows } from "../../http/page.ts";
import type { Journal } from "../../storage/journal/journal.ts";

type Reader = Journal;

/** Iterates over the entries of a run after a position, page by page. */
export const entriesOf = (journal: Reader, runId: string, after = 0) =>
  readRows(
    (seq: number, most) => journal.read(runId, seq, most),
    after,
    ({ seq }) => seq,
  );

/** Creation time of a run, in seconds. */
export const createdAt = (journal: Reader, runId: string): number =>
  Math.floor((journal.read(runId, 0, 1)[0]?.at ?? 0) / 1000);

/** True if the run's agent has an output schema. */
export function isOfSchema(journal: Reader & Journal, scope: Scope, runId: string): boolean {
  const [first] = journal.read(runId, 0, 1);
  return first?.event.type === "run.created" && journal.snapshot(scope, first.event.agent_hash).output_schema !== null;
}

/**
 * Returns the position of the last question about one of these calls, also one of a descendant: the result follows it.
 */
export function lastQuestionSeq(journal: Reader, runId: string, calls: ReadonlySet<string>): number {
  let last = 0;
  for (const { seq, event } of entriesOf(journal, runId))
    if (
      event.type === "run.requires_action" &&
      event.required_action.submit_tool_outputs.tool_calls.some(({ id }) => calls.has(id))
    )
      last = seq;
  return last;
}

import type { Scope } from "../../core/scope.ts";
import { read } from "../../http/page.ts";
import type { Journal } from "../../journal/journal.ts";

type Reader = Pick<Journal, "read">;

/** The entries of a run behind this place, a page at a time. */
export const entriesOf = (journal: Reader, runId: string, after = 0) =>
  read(
    (seq: number, most) => journal.read(runId, seq, most),
    after,
    ({ seq }) => seq,
  );

/** When a run was made, in seconds. */
export const createdAt = (journal: Reader, runId: string): number =>
  Math.floor((journal.read(runId, 0, 1)[0]?.at ?? 0) / 1000);

/** Whether a run's output has a schema to fit. */
export function isOfSchema(journal: Reader & Pick<Journal, "snapshot">, scope: Scope, runId: string): boolean {
  const [first] = journal.read(runId, 0, 1);
  return first?.event.type === "run.created" && journal.snapshot(scope, first.event.agent_hash).output_schema !== null;
}

/** Where a run asked for one of these calls last, for itself or for one below it: behind it stands what came of them. */
export function lastAsked(journal: Reader, runId: string, calls: ReadonlySet<string>): number {
  let last = 0;
  for (const { seq, event } of entriesOf(journal, runId))
    if (
      event.type === "run.requires_action" &&
      event.required_action.submit_tool_outputs.tool_calls.some(({ id }) => calls.has(id))
    )
      last = seq;
  return last;
}

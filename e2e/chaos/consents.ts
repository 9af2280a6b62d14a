import type { RecordedRun } from "./record.ts";

/** Returns the calls of a run that were made as somebody else than the run's user: the account's name is the user's id. */
export function foreignSubjects({ id, rows }: RecordedRun): string[] {
  const user = rows[0]?.event.user_id ?? null;
  return rows.flatMap(({ type, event }) =>
    type === "tool.completed" && event.output?.subject !== undefined && event.output.subject !== user
      ? [`${id} of ${user}: a call as ${event.output.subject}`]
      : [],
  );
}

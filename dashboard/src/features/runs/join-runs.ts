import type { AnyRun as Run } from "../../../../server/wire/run.ts";

/**
 * A list and what follows it, newest first. As far back as the first goes it alone tells what there is: what only the
 * second still has of that time was deleted.
 */
export function joinRuns<T extends Pick<Run, "id">>(first: readonly T[], second: readonly T[]): T[] {
  const oldest = first.at(-1);
  return [...first, ...second.filter(({ id }) => !oldest || id < oldest.id)];
}

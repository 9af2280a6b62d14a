import type { Run } from "../../../lib/types.ts";

/** Two lists as one, newest first; a run of both as it stands in the first. */
export function joinRuns<T extends Pick<Run, "id">>(first: readonly T[], second: readonly T[]): T[] {
  const known = new Set(first.map(({ id }) => id));
  const fresh = second.filter(({ id }) => !known.has(id));
  return [...first, ...fresh].sort((a, b) => (a.id < b.id ? 1 : -1));
}

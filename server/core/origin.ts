import type { JournalEntry, RunCreated } from "./run-event.ts";

export const origins = ["run", "replay", "fork", "import"] as const;
export type Origin = (typeof origins)[number];

/** How a run came to be. A trace that came from elsewhere is just that, whatever it was there. */
export function originOf({
  imported,
  replay_of,
  forked_from,
}: Pick<RunCreated, "imported" | "replay_of" | "forked_from">): Origin {
  if (imported) return "import";
  if (replay_of !== undefined) return "replay";
  return forked_from ? "fork" : "run";
}

/** The run that a replay or a fork was made of. */
export const sourceOf = ({ replay_of, forked_from }: Pick<RunCreated, "replay_of" | "forked_from">): string | null =>
  replay_of ?? forked_from?.run_id ?? null;

/**
 * What of these entries happens now, and is to be counted, told and said: not what a fork has of another run's record,
 * and nothing of replays and imports, which are inserted whole, up to their end.
 */
export function happening(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const [first] = entries;
  if (first?.event.type !== "run.created") return entries;
  const { recorded_to = 1 } = first.event;
  const origin = originOf(first.event);
  if (origin === "run") return entries;
  if (origin !== "fork") return [];
  // Its record may have begun days ago, and the fork began where it left that.
  const { at } = entries[recorded_to - 1] ?? first;
  return [{ ...first, at }, ...entries.slice(recorded_to)];
}

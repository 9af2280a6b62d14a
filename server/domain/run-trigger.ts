import type { JournalEntry, RunCreated } from "./run-event.ts";

export const runTriggers = ["run", "replay", "fork", "import"] as const;
export type RunTrigger = (typeof runTriggers)[number];

/** Returns the trigger of a run. An imported trace is always an import, whatever its trigger was. */
export function triggerOf({
  imported,
  replay_of,
  forked_from,
}: Pick<RunCreated, "imported" | "replay_of" | "forked_from">): RunTrigger {
  if (imported) return "import";
  if (replay_of !== undefined) return "replay";
  return forked_from ? "fork" : "run";
}

/** Returns the source run of a replay or fork. */
export const sourceOf = ({ replay_of, forked_from }: Pick<RunCreated, "replay_of" | "forked_from">): string | null =>
  replay_of ?? forked_from?.run_id ?? null;

/**
 * Returns the entries that happen now, and so are counted, sent to webhooks and shown. Omits the copied part of a fork.
 * Empty for replays and imports, which are inserted whole.
 */
export function newEntries(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const [first] = entries;
  if (first?.event.type !== "run.created") return entries;
  const { recorded_to = 1 } = first.event;
  const origin = triggerOf(first.event);
  if (origin === "run") return entries;
  if (origin !== "fork") return [];
  // The source run may be days old, so use the time of the fork.
  const { at } = entries[recorded_to - 1] ?? first;
  return [{ ...first, at }, ...entries.slice(recorded_to)];
}

import type { JournalEntry } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import { cancelledEvents } from "../../domain/terminal-events.ts";
import { lastItem } from "../../lib/collections.ts";
import { createForeignFold, orInvalidRun } from "./import-fold.ts";
import type { Pause } from "./import-run.ts";

/** Error of a run that was exported before it ended. */
const unfinished = "The record ends here: it was exported before the run was over.";

/**
 * Entries up to the run's end; an unfinished run is closed, because it will never continue. Throws `InvalidRun` if it
 * cannot be shown as a run.
 */
export async function settledRun(entries: readonly JournalEntry[], pause: Pause): Promise<JournalEntry[]> {
  const fold = createForeignFold({ raw: true });
  for (const entry of entries) {
    fold.add(entry);
    await pause();
  }
  await pause();
  const { state } = fold.trace();
  await pause();
  if (isOver(state.status)) return [...entries];
  const { seq, at } = lastItem(entries);
  const closing = orInvalidRun(() => cancelledEvents(state, unfinished, at, null));
  const end = closing.map((event, index) => ({ seq: seq + index + 1, at, event }));
  for (const entry of end) fold.add(entry);
  fold.trace();
  return [...entries, ...end];
}

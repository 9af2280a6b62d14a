import { cancelledEvents } from "../core/conclude.ts";
import type { JournalEntry } from "../core/run-event.ts";
import { isOver } from "../core/run-state.ts";
import { createForeignFold, unlessNone } from "./foreign-fold.ts";
import type { Pause } from "./foreign-run.ts";

/** Of a run that was not over when it was exported. */
const unfinished = "The record ends here: it was exported before the run was over.";

/**
 * The entries up to the run's end; one that was not over is closed, since nobody will ever drive it on. Throws `NoRun`
 * for what cannot be shown as a run: whoever looks at it later would meet that.
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
  const { seq, at } = entries.at(-1)!;
  const closing = unlessNone(() => cancelledEvents(state, unfinished, at, null));
  const end = closing.map((event, index) => ({ seq: seq + index + 1, at, event }));
  for (const entry of end) fold.add(entry);
  fold.trace();
  return [...entries, ...end];
}

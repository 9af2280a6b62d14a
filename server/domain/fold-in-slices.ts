import type { JournalEntry } from "./run-event.ts";
import { createFold, type RunState, requireRun } from "./run-state.ts";

/** Like `fold`, for a long journal: `rest` is called after each entry and may yield. */
export async function foldInSlices(entries: Iterable<JournalEntry>, rest: () => Promise<void>): Promise<RunState> {
  const folding = createFold();
  for (const entry of entries) {
    folding.add(entry);
    await rest();
  }
  return requireRun(folding.state);
}

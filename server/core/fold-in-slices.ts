import type { JournalEntry } from "./run-event.ts";
import { createFold, type RunState } from "./run-state.ts";

/** `fold` for a long record: `rest` is called after each entry, and may let others go first. */
export async function foldInSlices(entries: Iterable<JournalEntry>, rest: () => Promise<void>): Promise<RunState> {
  const folding = createFold();
  for (const entry of entries) {
    folding.add(entry);
    await rest();
  }
  return folding.state;
}

import type { JournalEntry } from "./run-event.ts";
import { apply, initialState, type RunState } from "./run-state.ts";

/** `fold` for a long record: `rest` is called after each entry, and may let others go first. */
export async function foldInSlices(entries: Iterable<JournalEntry>, rest: () => Promise<void>): Promise<RunState> {
  let state = initialState;
  for (const entry of entries) {
    state = apply(state, entry);
    await rest();
  }
  return state;
}

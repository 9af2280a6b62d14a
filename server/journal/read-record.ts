import type { JournalEntry } from "../core/run-event.ts";
import { inSlices } from "../lib/slices.ts";
import type { Journal } from "./journal.ts";

const entriesPerRead = 50;

/** The whole record of a run; a long one is read piece by piece. */
export async function readRecord(
  journal: Pick<Journal, "read">,
  runId: string,
  rest: () => Promise<void> = inSlices(),
): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (;;) {
    const some = journal.read(runId, entries.at(-1)?.seq ?? 0, entriesPerRead);
    entries.push(...some);
    if (some.length < entriesPerRead) return entries;
    await rest();
  }
}

import type { JournalEntry } from "../../domain/run-event.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Journal } from "./journal.ts";

const entriesPerRead = 50;

/** Reads the whole record of a run in pieces, with pauses. */
export async function readRecord(
  journal: Journal,
  runId: string,
  yieldTurn: () => Promise<void> = createYielder(),
): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (;;) {
    const batch = journal.read(runId, entries.at(-1)?.seq ?? 0, entriesPerRead);
    entries.push(...batch);
    if (batch.length < entriesPerRead) return entries;
    await yieldTurn();
  }
}

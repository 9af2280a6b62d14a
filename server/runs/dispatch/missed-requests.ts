import { isRequest, type JournalEntry } from "../../domain/run-event.ts";
import type { Journal } from "../../storage/journal/journal.ts";

/**
 * Returns the entries after this one that requests have added to a run, and that its loop does not know. Call inside a
 * write. Reads the journal only, because a write may be tried again.
 */
export function missedRequests(journal: Pick<Journal, "head" | "read">, runId: string, after: number): JournalEntry[] {
  const isBehind = (journal.head(runId)?.seq ?? 0) > after;
  return isBehind ? journal.read(runId, after).filter(({ event }) => isRequest(event)) : [];
}

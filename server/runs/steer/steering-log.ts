import type { JournalEntry } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import type { Journal } from "../../storage/journal/journal.ts";

export type SteeringLog = ReturnType<typeof createSteeringLog>;

/**
 * Runs that got a message while they were under way. Loops append to their own journal and know it, except for these
 * messages. In memory, because a loop that begins reads the whole journal.
 */
export function createSteeringLog({ journal }: { journal: Pick<Journal, "head" | "read"> }) {
  const runIds = new Set<string>();

  /** Forgets the runs that have ended. */
  function forgetEnded(): void {
    for (const id of runIds) {
      const head = journal.head(id);
      if (!head || isOver(head.status)) runIds.delete(id);
    }
  }

  return {
    /** Call before the write of a message. */
    add(runId: string): void {
      if (runIds.size >= mostKept) forgetEnded();
      runIds.add(runId);
    },
    /** Call inside a write. Returns the messages after this entry. */
    missedBy: (runId: string, after: number): JournalEntry[] =>
      runIds.has(runId) ? journal.read(runId, after).filter(({ event }) => event.type === "run.steered") : [],
  };
}

// From this number on, each further run first removes those that have ended.
const mostKept = 1000;

import { stallsMax } from "../core/decide.ts";
import { fold, isOver } from "../core/run-state.ts";
import type { Db } from "../db/open.ts";
import type { Journal } from "../journal/journal.ts";
import type { Watches } from "./watch.ts";

/**
 * Finds the run that brings the process down again and again. All that were under way at the same crashes look alike,
 * so before one of them is given up they go on one at a time: the crash then tells which it was.
 */
export function createTrials({
  db,
  journal,
  watches,
  start,
  trial_ms = 5000,
}: {
  db: Db;
  journal: Journal;
  watches: Watches;
  /** Drives a run that was recovered and held back. */
  start(runId: string): void;
  /** Whoever brings the process down does it in the step that it goes on with: a longer trial only holds up the others. */
  trial_ms?: number;
}) {
  const { sqlite } = db;
  let stopped = false;
  const selectTried = sqlite.query<{ value: string }, []>("SELECT value FROM facts WHERE name = 'on_trial'");
  const noteTried = sqlite.query("INSERT OR REPLACE INTO facts VALUES ('on_trial', ?)");
  const forgetTried = sqlite.query("DELETE FROM facts WHERE name = 'on_trial'");

  function isLastChance(runId: string): boolean {
    try {
      return fold(journal.read(runId)).stalls >= stallsMax - 1;
    } catch {
      return false; // It cannot be read: whoever goes on with it will say so.
    }
  }

  /** Answers when the run has come further, or was given time enough. */
  async function outlives(runId: string): Promise<void> {
    const watch = watches.join(runId);
    try {
      const end = performance.now() + trial_ms;
      for (let left = trial_ms; left > 0 && !stopped; left = end - performance.now()) {
        const { status, stalls } = fold(journal.read(runId));
        if (isOver(status) || status === "requires_action" || stalls === 0) return;
        await watch.next(left);
      }
    } finally {
      watch.leave();
    }
  }

  return {
    /** Of the runs that a crash left unfinished those that shall be held back; who was on trial then is known now. */
    suspects(unfinished: readonly string[]): string[] {
      if (unfinished.length < 2) return [];
      const tried = selectTried.get()?.value;
      return unfinished.filter((id) => id !== tried && isLastChance(id));
    },
    /** Lets the runs go on one after the other, and notes before each whose turn it is. */
    async hold(runIds: readonly string[]): Promise<void> {
      for (const id of runIds) {
        if (stopped) return;
        await db.write(() => noteTried.run(id));
        start(id);
        await outlives(id);
      }
      if (!stopped) await db.write(() => forgetTried.run());
    },
    stop(): void {
      stopped = true;
    },
  };
}

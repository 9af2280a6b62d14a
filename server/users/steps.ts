import type { Scope } from "../core/scope.ts";
import type { FileStore } from "../files/store.ts";
import type { EntryStore } from "../memory/entries.ts";
import type { KeyStore } from "../memory/keys.ts";
import type { RunsOfUser } from "../runs/of-user.ts";
import type { ThreadStore } from "../threads/store.ts";
import type { Erased } from "../wire/user.ts";

// What one write deletes at most, so that those who wait for the next one wait for milliseconds.
const itemsPerWrite = 20;
const filesPerWrite = 8;

/** One kind of what there is of a user. */
export interface EraseStep {
  /** Within a write: deletes some of it. Returns what went, which may be a part of something; null: nothing is left. */
  erase(scope: Scope, userId: string): Partial<Erased> | null;
  /** After that write. */
  erased?(): unknown;
}

interface Stores {
  runs: RunsOfUser;
  threads: Pick<ThreadStore, "eraseOf">;
  schedules: { eraseOf(scope: Scope, userId: string): boolean };
  memory: { entries: Pick<EntryStore, "forgetOf">; keys: Pick<KeyStore, "forgetOf">; sweeper: { collectSoon(): void } };
  files: Pick<FileStore, "eraseOfRun" | "eraseWaiting" | "eraseUnheld" | "erased">;
  usage: { forgetUser(scope: Scope, userId: string): number };
}

/** What is deleted of a user, in this order: what a later step is found by goes last. */
export function eraseSteps({ runs, threads, schedules, memory, files, usage }: Stores): EraseStep[] {
  /** Files that this write deleted. */
  let gone: string[] = [];
  const tellFiles = () => {
    files.erased(gone);
    gone = [];
  };

  /** Within a write: some of what stores hold of these users or sessions. */
  function forget(scope: Scope, of: "user" | "session", ids: readonly string[]): Partial<Erased> | null {
    const entries = memory.entries.forgetOf(scope, of, ids, itemsPerWrite);
    const keys = memory.keys.forgetOf(scope, of, ids, itemsPerWrite);
    if (entries.length + keys === 0) return null;
    gone = files.eraseUnheld(scope, [...new Set(entries.flatMap((id) => id ?? []))]);
    return { memory_entries: entries.length, memory_keys: keys, files: gone.length };
  }
  const collect = () => {
    tellFiles();
    memory.sweeper.collectSoon();
  };

  /** What tools made in these runs, and what these runs alone were given. */
  function eraseFiles(of: ReturnType<RunsOfUser["over"]>, userId: string): boolean {
    gone = [];
    for (const run of of) {
      gone.push(...files.eraseOfRun(run, run.id, userId, filesPerWrite - gone.length));
      if (gone.length === filesPerWrite) return true;
    }
    return gone.length > 0;
  }

  return [
    { erase: (scope, userId) => (schedules.eraseOf(scope, userId) ? { schedules: 1 } : null) },
    { erase: (scope, userId) => forget(scope, "user", [userId]), erased: collect },
    {
      // Of a page that is bound to a thread, they are found by it.
      erase(scope, userId) {
        gone = files.eraseWaiting(scope, userId, filesPerWrite);
        return gone.length === 0 ? null : { files: gone.length };
      },
      erased: tellFiles,
    },
    {
      erase(scope, userId) {
        const isGone = threads.eraseOf(scope, userId);
        return isGone === null ? null : { threads: isGone ? 1 : 0 };
      },
    },
    {
      // Files and the memory of sessions are found by their runs, and so go before them.
      erase(scope, userId) {
        const over = runs.over(scope, userId);
        if (over.length === 0) return null;
        const sessions = [...new Set(over.flatMap(({ session_id }) => session_id ?? []))];
        const forgotten = sessions.length > 0 ? forget(scope, "session", sessions) : null;
        if (forgotten) return forgotten;
        if (eraseFiles(over, userId)) return { files: gone.length };
        for (const run of over) runs.erase(run);
        return { runs: over.length };
      },
      async erased() {
        collect();
        await runs.clear();
      },
    },
    // Behind the runs: none is left that would be counted again.
    { erase: (scope, userId) => (usage.forgetUser(scope, userId) > 0 ? {} : null) },
  ];
}

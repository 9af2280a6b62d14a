import type { Erased } from "../../domain/api-types/user.ts";
import type { Scope } from "../../domain/scope.ts";
import type { FilesModule } from "../../resources/files/module.ts";
import type { MemoryModule } from "../../resources/memory/module.ts";
import type { OAuthModule } from "../../resources/oauth/module.ts";
import type { SchedulesModule } from "../../resources/schedules/module.ts";
import type { ThreadsModule } from "../../resources/threads/module.ts";
import type { UsageModule } from "../../resources/usage/module.ts";
import type { RunsModule } from "../../runs/module.ts";
import type { RunsByUser } from "../../runs/runs-by-user.ts";

// Limits per write, so that other writes wait only milliseconds.
const itemsPerWrite = 20;
const filesPerWrite = 8;

/** Erasure of one kind of user data. */
export interface EraseStep {
  /** Call inside a write. Deletes some data and returns the counts, which may be partial; null: nothing is left. */
  erase(scope: Scope, userId: string): Partial<Erased> | null;
  /** Called after that write. */
  erased?(): unknown;
}

interface Modules {
  usage: UsageModule;
  oauth: OAuthModule;
  files: FilesModule;
  memory: MemoryModule;
  threads: ThreadsModule;
  schedules: SchedulesModule;
  runs: RunsModule;
}

/** Returns the erasure steps in order: data that later steps use to find other data goes last. */
export function eraseSteps({ oauth, runs, threads, schedules, memory, files, usage }: Modules): EraseStep[] {
  /** Files deleted in this write. */
  let gone: string[] = [];
  const tellFiles = () => {
    files.store.erased(gone);
    gone = [];
  };

  /** Call inside a write. Deletes some memory of these users or sessions. */
  function forget(scope: Scope, of: "user" | "session", ids: readonly string[]): Partial<Erased> | null {
    const entries = memory.entries.forgetOf(scope, of, ids, itemsPerWrite);
    const keys = memory.keys.forgetOf(scope, of, ids, itemsPerWrite);
    if (entries.length + keys === 0) return null;
    gone = files.store.eraseUnheld(scope, [...new Set(entries.flatMap((id) => id ?? []))]);
    return { memory_entries: entries.length, memory_keys: keys, files: gone.length };
  }
  const collect = () => {
    tellFiles();
    memory.sweeper.collectSoon();
  };

  /** Deletes files created by these runs, and attachments that only these runs use. */
  function eraseFiles(of: ReturnType<RunsByUser["over"]>, userId: string): boolean {
    gone = [];
    for (const run of of) {
      gone.push(...files.store.eraseOfRun(run, run.id, userId, filesPerWrite - gone.length));
      if (gone.length === filesPerWrite) return true;
    }
    return gone.length > 0;
  }

  return [
    {
      // First, so that nothing acts for the user any more.
      erase(scope, userId) {
        const grants = oauth.eraseOfUser(scope, userId);
        return grants > 0 ? { oauth_grants: grants } : null;
      },
      erased: oauth.wakeRevocations,
    },
    { erase: (scope, userId) => (schedules.store.eraseOf(scope, userId) ? { schedules: 1 } : null) },
    { erase: (scope, userId) => forget(scope, "user", [userId]), erased: collect },
    {
      // Files uploaded through a page bound to a thread are found by that thread.
      erase(scope, userId) {
        gone = files.store.eraseWaiting(scope, userId, filesPerWrite);
        return gone.length === 0 ? null : { files: gone.length };
      },
      erased: tellFiles,
    },
    {
      erase(scope, userId) {
        const isGone = threads.store.eraseOf(scope, userId);
        return isGone === null ? null : { threads: isGone ? 1 : 0 };
      },
    },
    {
      // Files and session memory are found by their runs, so they go before them.
      erase(scope, userId) {
        const endedRuns = runs.byUser.over(scope, userId);
        if (endedRuns.length === 0) return null;
        const sessions = [...new Set(endedRuns.flatMap(({ session_id }) => session_id ?? []))];
        const forgotten = sessions.length > 0 ? forget(scope, "session", sessions) : null;
        if (forgotten) return forgotten;
        if (eraseFiles(endedRuns, userId)) return { files: gone.length };
        for (const run of endedRuns) runs.byUser.erase(run);
        return { runs: endedRuns.length };
      },
      async erased() {
        collect();
        await runs.byUser.clear();
      },
    },
    // After the runs, so that no run is left to be counted again.
    { erase: (scope, userId) => (usage.forgetUser(scope, userId) > 0 ? {} : null) },
  ];
}

import type { Base, Module } from "../../http/module.ts";
import type { FilesModule } from "../../resources/files/module.ts";
import type { MemoryModule } from "../../resources/memory/module.ts";
import type { OAuthModule } from "../../resources/oauth/module.ts";
import type { ProjectsModule } from "../../resources/projects/module.ts";
import type { SchedulesModule } from "../../resources/schedules/module.ts";
import type { ThreadsModule } from "../../resources/threads/module.ts";
import type { UsageModule } from "../../resources/usage/module.ts";
import type { RunsModule } from "../../runs/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { createErasures } from "./erasures.ts";
import { createUserExport } from "./export.ts";
import { createLearning } from "./learning.ts";
import { userRoutes } from "./routes.ts";
import { eraseSteps } from "./steps.ts";

interface Needs {
  base: Base;
  journals: Journals;
  projects: ProjectsModule;
  usage: UsageModule;
  files: FilesModule;
  memory: MemoryModule;
  threads: ThreadsModule;
  schedules: SchedulesModule;
  runs: RunsModule;
  oauth: OAuthModule;
}

/** Data of end users: erasure, export and learned facts. */
export function createUsersModule({
  base,
  journals,
  projects,
  usage,
  files,
  memory,
  threads,
  schedules,
  runs,
  oauth,
}: Needs) {
  const { db, abortSignalOf } = base;
  const erasures = createErasures({
    ...base,
    async cancelLive(scope, userId) {
      const live = runs.byUser.live(scope, userId);
      const ends = live.map((id) => runs.service.cancel(scope, id, "The data of its user is erased."));
      const failed = (await Promise.allSettled(ends)).filter((end) => end.status === "rejected");
      // A run that ended by itself or with its parent counts as cancelled.
      const [first] = failed;
      if (first && failed.length === live.length) throw first.reason;
      return live.length;
    },
    steps: eraseSteps({ oauth, runs, threads, schedules, memory, files, usage }),
    finish: async () => {
      await Promise.all([memory.sweeper.collect(), files.store.idle()]);
      await files.blobs.collect();
    },
  });
  const openExport = createUserExport({ db, oauth, runs, threads, schedules, memory, files });
  const learning = createLearning({
    ...base,
    journal: journals.journal,
    runs: runs.store,
    create: runs.service.create,
    entries: memory.entries,
    wake: memory.indexer.wake,
    isOpen: projects.store.isOpen,
  });
  journals.project(learning.project);
  journals.onCommit(learning.heard);
  runs.onCreated(learning.onCreated);
  return {
    routes: (auth) => [userRoutes({ auth, erasures, openExport, ending: abortSignalOf })],
    start(): void {
      learning.start();
      erasures.start();
    },
    onProjectArrived(): void {
      learning.start();
      erasures.start();
    },
    stop: () => Promise.all([learning.stop(), erasures.stop()]),
  } satisfies Module;
}

import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import type { Base, Module } from "../../http/module.ts";
import type { createFilesModule } from "../../resources/files/module.ts";
import type { createMemoryModule } from "../../resources/memory/module.ts";
import type { ThreadStore } from "../../resources/threads/store.ts";
import type { RunPorts } from "../../runs/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { createErasures } from "./erasures.ts";
import { createUserExport } from "./export.ts";
import { createLearning } from "./learning.ts";
import { userRoutes } from "./routes.ts";
import { eraseSteps } from "./steps.ts";

export type Learning = ReturnType<typeof createUsersModule>["exports"]["learning"];

/** Data of end users: erasure, export and learned facts. */
export function createUsersModule({
  runs,
  threads,
  schedules,
  memory,
  files: { files, blobs },
  usage,
  journals,
  projects,
  ...base
}: Base & {
  journals: Journals;
  projects: { isOpen(projectId: string): boolean };
  runs: Pick<RunPorts, "ofUser" | "cancel" | "runs" | "service">;
  threads: Pick<ThreadStore, "eraseOf" | "get" | "messages">;
  schedules: { eraseOf(scope: Scope, userId: string): boolean; get(viewer: Viewer, id: string): object };
  memory: ReturnType<typeof createMemoryModule>["exports"];
  files: ReturnType<typeof createFilesModule>["exports"];
  usage: { forgetUser(scope: Scope, userId: string): number };
}) {
  const { abortSignalOf } = base;
  const erasures = createErasures({
    ...base,
    async cancelLive(scope, userId) {
      const live = runs.ofUser.live(scope, userId);
      const ends = live.map((id) => runs.cancel(scope, id, "The data of its user is erased."));
      const failed = (await Promise.allSettled(ends)).filter((end) => end.status === "rejected");
      // A run that ended by itself or with its parent counts as cancelled.
      const [first] = failed;
      if (first && failed.length === live.length) throw first.reason;
      return live.length;
    },
    steps: eraseSteps({ runs: runs.ofUser, threads, schedules, memory, files, usage }),
    finish: async () => {
      await Promise.all([memory.sweeper.collect(), files.idle()]);
      await blobs.collect();
    },
  });
  const openExport = createUserExport({ db: base.db, runs: runs.runs, threads, schedules, memory, files });
  const learning = createLearning({
    ...base,
    journal: journals.journal,
    runs: runs.runs,
    create: runs.service.create,
    entries: memory.entries,
    wake: memory.indexer.wake,
    isOpen: projects.isOpen,
  });
  journals.project(learning.project);
  journals.onCommit(learning.heard);
  return {
    routes: (auth) => [userRoutes({ auth, erasures, openExport, ending: abortSignalOf })],
    exports: { learning },
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

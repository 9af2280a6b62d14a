import type { Base, Module } from "../../http/module.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { FilesModule } from "../files/module.ts";
import { threadRoutes } from "./routes.ts";
import { createThreadStore } from "./store.ts";
import { createThreadProjection } from "./thread-projection.ts";

export type ThreadsModule = ReturnType<typeof createThreadsModule>;

interface Needs {
  base: Base;
  journals: Journals;
  files: FilesModule;
}

/** Conversations over several runs. */
export function createThreadsModule({ base, journals, files }: Needs) {
  const { journal, project } = journals;
  const threads = createThreadStore({ ...base, imagesOf: files.store.imagesOf });
  project(createThreadProjection(base.db.sqlite, (runId) => nullIfUnreadable(() => journal.state(runId))));
  return { routes: (auth) => [threadRoutes({ auth, threads })], store: threads } satisfies Module;
}

import type { Base, Module } from "../../http/module.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { threadRoutes } from "./routes.ts";
import { createThreadStore, type ThreadStoreOptions } from "./store.ts";
import { createThreadProjection } from "./thread-projection.ts";

/** Conversations over several runs. */
export function createThreadsModule({
  journals,
  files,
  ...base
}: Base & { journals: Journals; files: Pick<ThreadStoreOptions, "imagesOf"> }) {
  const threads = createThreadStore({ ...base, imagesOf: files.imagesOf });
  const { journal, project } = journals;
  project(createThreadProjection(base.db.sqlite, (runId) => nullIfUnreadable(() => journal.state(runId))));
  return { routes: (auth) => [threadRoutes({ auth, threads })], exports: threads } satisfies Module;
}

import { unlessDamaged } from "../db/unless-damaged.ts";
import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import { createThreadProjector } from "./project.ts";
import { threadRoutes } from "./routes.ts";
import { createThreadStore, type ThreadStoreOptions } from "./store.ts";

/** Conversations of several runs. */
export function composeThreads({
  journals,
  files,
  ...base
}: Base & { journals: Journals; files: Pick<ThreadStoreOptions, "imagesOf"> }) {
  const threads = createThreadStore({ ...base, imagesOf: files.imagesOf });
  const { journal, project } = journals;
  project(createThreadProjector(base.db.sqlite, (runId) => unlessDamaged(() => journal.state(runId))));
  return { routes: (auth) => [threadRoutes({ auth, threads })], ports: threads } satisfies Part;
}

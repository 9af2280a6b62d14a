import type { Base, Module } from "../../http/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { createDocuments } from "./documents.ts";
import { placeOf } from "./facets.ts";
import { runTexts } from "./index-text.ts";
import { createObjects } from "./objects.ts";
import { searchRoutes } from "./routes.ts";
import { createSearch } from "./store.ts";

/** Full-text search over a project. The index is updated asynchronously. */
export function createSearchModule({ base, journals: { ended } }: { base: Base; journals: Journals }) {
  const documents = createDocuments(base.db.sqlite);
  const objects = createObjects({ ...base, documents });
  ended.follow({
    bit: 1,
    begin(run) {
      const { entry, texts, facets, cost } = runTexts(run);
      return {
        entry,
        cost,
        write: () => documents.put(run, "run", placeOf(run, "run", run.agent_id, facets()), texts()),
      };
    },
  });
  return {
    routes: (auth) => [searchRoutes({ auth, search: createSearch(base) })],
    /** Indexes all pending changes now. */
    async catchUp(): Promise<void> {
      await objects.catchUp();
      await ended.catchUp();
    },
    start: objects.start,
    stop: objects.stop,
  } satisfies Module;
}

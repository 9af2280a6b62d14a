import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import { createDocuments } from "./documents.ts";
import { createObjects } from "./objects.ts";
import { placeOf } from "./place.ts";
import { searchRoutes } from "./routes.ts";
import { createSearch } from "./store.ts";
import { runTexts } from "./texts.ts";

/** What there is of a project, found by its words. The index is filled behind what it tells of. */
export function composeSearch({ journals: { ended }, ...base }: Base & { journals: Journals }) {
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
    ports: {
      /** Makes searchable what is not yet, now. */
      async catchUp(): Promise<void> {
        await objects.catchUp();
        await ended.catchUp();
      },
    },
    start: objects.start,
    stop: objects.stop,
  } satisfies Part;
}

import type { Base, Part } from "../http/part.ts";
import type { RunStore } from "../runs/store.ts";
import { scoreRoutes } from "./routes.ts";
import { createScoreStore } from "./store.ts";

/** What people and programs think of runs. */
export function composeScores({ db, now, runs }: Pick<Base, "db" | "now"> & { runs: RunStore }) {
  const scores = createScoreStore({ db, runs, now });
  return { routes: (auth) => [scoreRoutes({ auth, scores })] } satisfies Part;
}

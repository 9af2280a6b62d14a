import type { Base, Module } from "../../http/module.ts";
import type { RunStore } from "../../runs/store.ts";
import { scoreRoutes } from "./routes.ts";
import { createScoreStore } from "./store.ts";

/** Scores that people and programs give to runs. */
export function createScoresModule({ db, now, runs }: Pick<Base, "db" | "now"> & { runs: RunStore }) {
  const scores = createScoreStore({ db, runs, now });
  return { routes: (auth) => [scoreRoutes({ auth, scores })] } satisfies Module;
}

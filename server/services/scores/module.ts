import type { Base, Module } from "../../http/module.ts";
import type { LabelsModule } from "../../resources/labels/module.ts";
import type { RunsModule } from "../../runs/module.ts";
import { scoreRoutes } from "./routes.ts";
import { createScoreStore } from "./store.ts";

/** Scores that people and programs give to runs. */
export function createScoresModule({
  base: { db, now },
  runs,
  labels,
}: {
  base: Base;
  runs: RunsModule;
  labels: LabelsModule;
}) {
  const scores = createScoreStore({ db, runs: runs.store, labels, now });
  return { routes: (auth) => [scoreRoutes({ auth, scores })] } satisfies Module;
}

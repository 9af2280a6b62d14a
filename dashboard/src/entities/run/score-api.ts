import type { PutScore } from "../../../../server/scores/schema.ts";
import type { Score } from "../../../../server/wire/score.ts";
import { put } from "../../lib/api.ts";
import { type At, resource } from "../resource/resource.ts";
import { runApi } from "./run-api.ts";

export const scoreApi = resource<Score>("scores");

/** What people and programs think of a run. */
export const scoresQuery = (at: At, run_id: string) => scoreApi.page(at, {}, { run_id });

/** Scores a run, or changes one's own score of it. */
export const scoreRun = (at: At, runId: string, name: string, score: PutScore): Promise<Score> =>
  put(runApi.url(at, runId, `/scores/${encodeURIComponent(name)}`), score);

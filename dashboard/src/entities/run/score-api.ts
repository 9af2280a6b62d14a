import type { Score } from "../../../../server/domain/api-types/score.ts";
import type { PutScore } from "../../../../server/services/scores/schema.ts";
import { put } from "../../lib/api.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import { runApi } from "./run-api.ts";

export const scoreApi = resource<Score>("scores");

/** Scores of a run, by people and programs. */
export const scoresQuery = (at: WorkspaceKey, run_id: string) => scoreApi.page(at, {}, { run_id });

/** Creates or updates one's own score of a run. */
export const scoreRun = (at: WorkspaceKey, runId: string, name: string, score: PutScore): Promise<Score> =>
  put(runApi.url(at, runId, `/scores/${encodeURIComponent(name)}`), score);

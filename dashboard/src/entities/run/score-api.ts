import type { Score } from "../../../../server/wire/score.ts";
import { type At, resource } from "../resource/resource.ts";

const scoreApi = resource<Score>("scores");

/** What people and programs think of a run. */
export const scoresQuery = (at: At, run_id: string) => scoreApi.page(at, {}, { run_id });

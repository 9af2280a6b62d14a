import { type Reached, reached } from "./reached.ts";
import { useReplay } from "./replay-context.ts";
import { useShownRow } from "./row-context.ts";

/** How far the replay has come with what is shown. */
export function useReached(): Reached {
  const replay = useReplay();
  const row = useShownRow();
  return row ? reached(replay, row) : "all";
}

import type { Origin as RunOrigin } from "../../../../server/core/origin.ts";
import { isSpan, type RunsSearch, timeWords } from "../../entities/run/runs-search.ts";

export const originWords: Record<RunOrigin, string> = {
  run: "Run",
  replay: "Replay",
  fork: "Fork",
  import: "Import",
};

export const originHints: Record<RunOrigin, string> = {
  run: "Started as a run",
  replay: "Performed again by a record",
  fork: "Went on from a step of another run",
  import: "Came from an exported trace",
};

/** What a list is narrowed by, as the end of a sentence: `with status “Failed” and agent “Refund desk” in the last 24 hours`. */
export function filterWords(
  { status, agent, since, until, user, thread, origin }: RunsSearch,
  names: { status: Record<string, string>; agent: string },
): string {
  const named = [
    status && `status “${names.status[status]}”`,
    agent && `agent “${names.agent}”`,
    user && `user “${user}”`,
    thread && `thread “${thread}”`,
    origin && `origin “${originWords[origin]}”`,
  ].filter((word) => typeof word === "string");
  const time = timeWords(since, until);
  const inTime = time && (since && !until && isSpan(since) ? `in the ${time}` : until && since ? `from ${time}` : time);
  return [named.length > 0 && `with ${named.join(" and ")}`, inTime].filter(Boolean).join(" ");
}

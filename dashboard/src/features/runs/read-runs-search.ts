import { origins as runOrigins } from "../../../../server/core/origin.ts";
import { runStatuses } from "../../../../server/core/run-state.ts";
import { isTime, type RunsSearch, timeSpans } from "../../entities/run/runs-search.ts";
import { readChoice, readId, readPageSearch, readText } from "../../lib/page-search.ts";

/** What the address of the list says; what is none of it is left out. */
export function readRunsSearch(search: Record<string, unknown>): RunsSearch {
  const status = readChoice(search.status, runStatuses);
  const agent = readId(search.agent, "agent");
  const since = readChoice(search.since, timeSpans) ?? readTime(search.since);
  const until = readTime(search.until);
  const user = readText(search.user, 255);
  const thread = readId(search.thread, "thread");
  const origin = readChoice(search.origin, runOrigins);
  const q = readText(search.q);
  return {
    ...(status && { status }),
    ...(agent && { agent }),
    ...(since && { since }),
    ...(until && { until }),
    ...(user && { user }),
    ...(thread && { thread }),
    ...(origin && { origin }),
    ...(q && { q }),
    ...readPageSearch(search, "run"),
  };
}

const readTime = (value: unknown): string | undefined =>
  typeof value === "string" && isTime(value) ? value : undefined;

import { origins as runOrigins } from "../../../../server/core/origin.ts";
import { runStatuses } from "../../../../server/core/run-state.ts";
import { isTime, type RunsSearch, timeSpans } from "../../entities/run/runs-search.ts";
import { given, readChoice, readId, readPageSearch, readText } from "../../lib/page-search.ts";

/** What the address of the list says; what is none of it is left out. */
export const readRunsSearch = (search: Record<string, unknown>): RunsSearch =>
  given({
    status: readChoice(search.status, runStatuses),
    agent: readId(search.agent, "agent"),
    since: readChoice(search.since, timeSpans) ?? readTime(search.since),
    until: readTime(search.until),
    user: readText(search.user, 255),
    thread: readId(search.thread, "thread"),
    origin: readChoice(search.origin, runOrigins),
    q: readText(search.q),
    ...readPageSearch(search, "run"),
  });

const readTime = (value: unknown): string | undefined =>
  typeof value === "string" && isTime(value) ? value : undefined;

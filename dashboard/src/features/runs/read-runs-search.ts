import { runStatuses } from "../../../../server/domain/run-state.ts";
import { runTriggers as runOrigins } from "../../../../server/domain/run-trigger.ts";
import { isRange, isTime, type RunsSearch, runSorts, timeSpans } from "../../entities/run/runs-search.ts";
import { omitUndefined, readChoice, readForm, readId, readPageSearch, readText } from "../../lib/page-search.ts";

/** Parses the search parameters of the list; invalid values are omitted. */
export const readRunsSearch = (search: Record<string, unknown>): RunsSearch =>
  omitUndefined({
    status: readChoice(search.status, runStatuses),
    agent: readId(search.agent, "agent"),
    since: readChoice(search.since, timeSpans) ?? readTime(search.since),
    until: readTime(search.until),
    user: readText(search.user, 255),
    thread: readId(search.thread, "thread"),
    origin: readChoice(search.origin, runOrigins),
    model: readText(search.model, 256),
    error: readForm(search.error, /^[a-z_]+$/),
    tool: readText(search.tool, 256),
    key: readId(search.key, "api_key"),
    cost: readRange(search.cost),
    duration: readRange(search.duration),
    first: readRange(search.first),
    score: readText(search.score, 64),
    value: readRange(search.value),
    metadata: readPairs(search.metadata),
    q: readText(search.q, 500),
    sort: readChoice(search.sort, runSorts),
    order: readChoice(search.order, ["asc"] as const),
    ...readPageSearch(search, "run"),
  });

const readTime = (value: unknown): string | undefined =>
  typeof value === "string" && isTime(value) ? value : undefined;

const readRange = (value: unknown): string | undefined =>
  typeof value === "string" && isRange(value) ? value : undefined;

function readPairs(value: unknown): string[] | undefined {
  const pairs = (Array.isArray(value) ? value : [value]).filter(
    (pair): pair is string => typeof pair === "string" && pair.indexOf("=") > 0,
  );
  return pairs.length > 0 ? pairs : undefined;
}

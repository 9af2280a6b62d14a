import type { RunStatus } from "../../../../server/domain/run-state.ts";
import type { RunTrigger as RunOrigin } from "../../../../server/domain/run-trigger.ts";
import type { PageSearch } from "../../lib/page-search.ts";

/** Filters of the run list. */
export interface RunFilters {
  status?: RunStatus;
  agent?: string;
  /** A span that ends now (`24h`), or a timestamp. */
  since?: string;
  until?: string;
  user?: string;
  thread?: string;
  origin?: RunOrigin;
  model?: string;
  /** Error code of failed runs. */
  error?: string;
  /** Name of a tool that the runs called. */
  tool?: string;
  /** Id of the API key that created the runs. */
  key?: string;
  /** Ranges in USD and in milliseconds, such as `0.5..2` and `1000..`. */
  cost?: string;
  duration?: string;
  /** Range of the time to first token in milliseconds. */
  first?: string;
  /** Name of a score and a range of its value. */
  score?: string;
  value?: string;
  /** Pairs such as `order=4711`. */
  metadata?: string[];
  /** Words in the input, output, error, metadata, user or call arguments. */
  q?: string;
}

/** Search parameters of the run list. */
export interface RunsSearch extends RunFilters, PageSearch {
  /** Sort key; creation time by default. */
  sort?: RunSort;
  /** Ascending; descending by default. */
  order?: "asc";
}

export const runSorts = ["cost", "duration"] as const;
export type RunSort = (typeof runSorts)[number];

const filterNames = [
  ...(["status", "agent", "since", "until", "user", "thread", "origin", "model", "error", "tool", "key"] as const),
  ...(["cost", "duration", "first", "score", "value", "metadata", "q"] as const),
] satisfies (keyof RunFilters)[];

/** Returns the active filters without order and page. */
export const filtersOf = (search: RunsSearch): RunFilters => pick(search, filterNames);

/** All filters unset. */
export const noFilters: RunFilters = Object.fromEntries(filterNames.map((name) => [name, undefined]));

/** Returns the parts of a list that a saved view stores: filters and order, no page. */
export const viewOf = (search: RunsSearch): RunsSearch => pick(search, [...filterNames, "sort", "order"]);

const pick = (search: RunsSearch, names: readonly (keyof RunsSearch)[]): RunsSearch =>
  Object.fromEntries(names.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])));

/** True if any filter is active. */
export const isFiltered = (search: RunsSearch): boolean => Object.keys(filtersOf(search)).length > 0;

/** True if the list uses the search index, which contains only ended runs, some seconds after their end. */
export const isIndexed = ({ q, tool, error, key, cost, duration, first, sort }: RunsSearch): boolean =>
  [q, tool, error, key, cost, duration, first, sort].some((filter) => filter !== undefined);

/** Converts the search to the parameters of `GET /v1/runs`, its count and its export. */
export function runsParameters(search: RunsSearch, now: number): Record<string, string | undefined> {
  const { status, agent, since, until, user, thread, origin, model, error, tool, key, q, sort, order } = search;
  return {
    status,
    agent_id: agent,
    user_id: user,
    thread_id: thread,
    origin,
    model,
    error_code: error,
    tool,
    api_key_id: key,
    q,
    sort,
    order,
    "created_at[gte]": since && new Date(spanStart(since, now)).toISOString(),
    "created_at[lte]": until && new Date(until).toISOString(),
    ...rangeParameters("cost", search.cost),
    ...rangeParameters("duration_ms", search.duration),
    ...rangeParameters("first_token_ms", search.first),
    score: search.score,
    ...rangeParameters("score", search.value),
    ...Object.fromEntries(metadataPairs(search).map(([name, value]) => [`metadata[${name}]`, value])),
  };
}

const rangeParameters = (name: string, range: string | undefined) => {
  const { min, max } = readRange(range);
  return { [`${name}_min`]: min, [`${name}_max`]: max };
};

/** True for a numeric range of an address: `0.5..2`, `0.5..` or `..2`. */
export const isRange = (text: string): boolean => /^(-?\d+(\.\d+)?)?\.\.(-?\d+(\.\d+)?)?$/.test(text) && text !== "..";

/** Returns the ends of a range; undefined is open. */
export function readRange(range = ".."): { min?: string; max?: string } {
  const [min, max] = range.split("..");
  return { min: min || undefined, max: max || undefined };
}

/** Formats a range; undefined if both ends are open. */
export const writeRange = (min = "", max = ""): string | undefined => (min || max ? `${min}..${max}` : undefined);

/** Metadata pairs that the runs must have. */
const metadataPairs = ({ metadata = [] }: RunFilters): [name: string, value: string][] =>
  metadata.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);

/** Spans that end now. */
export const timeSpans = ["1h", "24h", "7d"] as const;
export type TimeSpan = (typeof timeSpans)[number];

export const spanWords: Record<TimeSpan, string> = { "1h": "last hour", "24h": "last 24 hours", "7d": "last 7 days" };

const hour_ms = 3_600_000;
const lengths: Record<TimeSpan, number> = { "1h": hour_ms, "24h": 24 * hour_ms, "7d": 7 * 24 * hour_ms };

/** True for a timestamp in API format. */
export const isTime = (value: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) && Number.isFinite(Date.parse(value));

/** Start time of a span, or the timestamp itself. */
export function spanStart(since: string, now: number): number {
  return isSpan(since) ? now - lengths[since] : Date.parse(since);
}

/** Describes the time filter: `last 24 hours`, `21 Nov 02:00 to 06:00`, `until 21 Nov 06:00`. */
export function timeWords(since: string | undefined, until: string | undefined): string {
  if (since && isSpan(since)) return spanWords[since];
  if (since && until) return `${minuteWords(since)} to ${sameDay(since, until) ? clock(until) : minuteWords(until)}`;
  return since ? `since ${minuteWords(since)}` : until ? `until ${minuteWords(until)}` : "";
}

/** Formats a time for a `datetime-local` field in the local time zone: `2026-11-21T02:00`. */
export function fieldTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export const isSpan = (value: string): value is TimeSpan => timeSpans.some((span) => span === value);

const clock = (at: string): string => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

const minuteWords = (at: string): string =>
  `${new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${clock(at)}`;

const sameDay = (a: string, b: string): boolean => new Date(a).toDateString() === new Date(b).toDateString();

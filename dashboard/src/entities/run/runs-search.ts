import type { Origin as RunOrigin } from "../../../../server/core/origin.ts";
import type { RunStatus } from "../../../../server/core/run-state.ts";
import type { PageSearch } from "../../lib/page-search.ts";

/** What narrows a list of runs. */
export interface RunFilters {
  status?: RunStatus;
  agent?: string;
  /** A span that ends now (`24h`), or a time. */
  since?: string;
  until?: string;
  user?: string;
  thread?: string;
  origin?: RunOrigin;
  model?: string;
  /** The code that they failed with. */
  error?: string;
  /** The name of a tool that they called. */
  tool?: string;
  /** The id of the API key that asked for them. */
  key?: string;
  /** Of USD and of milliseconds, such as `0.5..2` and `1000..`. */
  cost?: string;
  duration?: string;
  /** How long a model took to its first token, in milliseconds. */
  first?: string;
  /** The name of a score, and the range of its value. */
  score?: string;
  value?: string;
  /** Pairs such as `order=4711`. */
  metadata?: string[];
  /** Words in their input, output, error, metadata, user or the arguments of their calls. */
  q?: string;
}

/** What the address of the list holds. */
export interface RunsSearch extends RunFilters, PageSearch {
  /** By what they are sorted; else by when they were created. */
  sort?: RunSort;
  /** The least, or the oldest, first. */
  order?: "asc";
}

export const runSorts = ["cost", "duration"] as const;
export type RunSort = (typeof runSorts)[number];

const filterNames = [
  ...(["status", "agent", "since", "until", "user", "thread", "origin", "model", "error", "tool", "key"] as const),
  ...(["cost", "duration", "first", "score", "value", "metadata", "q"] as const),
] satisfies (keyof RunFilters)[];

/** The filters that are set, without order and place. */
export const filtersOf = (search: RunsSearch): RunFilters => pick(search, filterNames);

/** Sets each filter to none. */
export const noFilters: RunFilters = Object.fromEntries(filterNames.map((name) => [name, undefined]));

/** The list without its place: what can be kept under a name. */
export const viewOf = (search: RunsSearch): RunsSearch => pick(search, [...filterNames, "sort", "order"]);

const pick = (search: RunsSearch, names: readonly (keyof RunsSearch)[]): RunsSearch =>
  Object.fromEntries(names.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])));

/** Whether the list is less than all runs. */
export const isFiltered = (search: RunsSearch): boolean => Object.keys(filtersOf(search)).length > 0;

/** Whether what is found is known of runs that are over alone, within some seconds of their end. */
export const isIndexed = ({ q, tool, error, key, cost, duration, first, sort }: RunsSearch): boolean =>
  [q, tool, error, key, cost, duration, first, sort].some((filter) => filter !== undefined);

/** As parameters of `GET /v1/runs`, and of its count and export. */
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
    ...rangeParameters("duration", search.duration),
    ...rangeParameters("first_token", search.first),
    score: search.score,
    ...rangeParameters("score", search.value),
    ...Object.fromEntries(metadataPairs(search).map(([name, value]) => [`metadata[${name}]`, value])),
  };
}

const rangeParameters = (name: string, range: string | undefined) => {
  const { min, max } = readRange(range);
  return { [`${name}_min`]: min, [`${name}_max`]: max };
};

/** `0.5..2`, `0.5..` and `..2`, as an address has a range of numbers. */
export const isRange = (text: string): boolean => /^(-?\d+(\.\d+)?)?\.\.(-?\d+(\.\d+)?)?$/.test(text) && text !== "..";

/** The two ends of a range; none is open. */
export function readRange(range = ".."): { min?: string; max?: string } {
  const [min, max] = range.split("..");
  return { min: min || undefined, max: max || undefined };
}

/** The range between two ends; none where both are open. */
export const writeRange = (min = "", max = ""): string | undefined => (min || max ? `${min}..${max}` : undefined);

/** The pairs that the metadata of runs must have. */
const metadataPairs = ({ metadata = [] }: RunFilters): [name: string, value: string][] =>
  metadata.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);

/** Spans that end now. */
export const timeSpans = ["1h", "24h", "7d"] as const;
export type TimeSpan = (typeof timeSpans)[number];

export const spanWords: Record<TimeSpan, string> = { "1h": "last hour", "24h": "last 24 hours", "7d": "last 7 days" };

const hour_ms = 3_600_000;
const lengths: Record<TimeSpan, number> = { "1h": hour_ms, "24h": 24 * hour_ms, "7d": 7 * 24 * hour_ms };

/** A time as the API takes it. */
export const isTime = (value: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) && Number.isFinite(Date.parse(value));

/** When a span of the address begins. */
export function spanStart(since: string, now: number): number {
  return isSpan(since) ? now - lengths[since] : Date.parse(since);
}

/** The time filter in words: `last 24 hours`, `21 Nov 02:00 to 06:00`, `until 21 Nov 06:00`. */
export function timeWords(since: string | undefined, until: string | undefined): string {
  if (since && isSpan(since)) return spanWords[since];
  if (since && until) return `${minuteWords(since)} to ${sameDay(since, until) ? clock(until) : minuteWords(until)}`;
  return since ? `since ${minuteWords(since)}` : until ? `until ${minuteWords(until)}` : "";
}

/** A time as a field of the browser takes it, in the reader's zone: `2026-11-21T02:00`. */
export function fieldTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export const isSpan = (value: string): value is TimeSpan => timeSpans.some((span) => span === value);

const clock = (at: string): string => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

const minuteWords = (at: string): string =>
  `${new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${clock(at)}`;

const sameDay = (a: string, b: string): boolean => new Date(a).toDateString() === new Date(b).toDateString();

import type { Origin as RunOrigin } from "../../../../server/core/origin.ts";
import { wholeText } from "../../../../server/core/run-input.ts";
import type { RunStatus } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { PageSearch } from "../../lib/page-search.ts";

/** What the address of the list holds. */
export interface RunsSearch extends PageSearch {
  status?: RunStatus;
  agent?: string;
  /** A span that ends now (`24h`), or a time. */
  since?: string;
  until?: string;
  user?: string;
  thread?: string;
  origin?: RunOrigin;
  /** Text that a run of the page has. */
  q?: string;
}

/** The filters that are set, without text and place. */
export function filtersOf({ status, agent, since, until, user, thread, origin }: RunsSearch): RunsSearch {
  return { status, agent, since, until, user, thread, origin };
}

/** Whether the list is less than all runs. */
export const isFiltered = (search: RunsSearch): boolean =>
  Object.values(filtersOf(search)).some((value) => value !== undefined);

/** As parameters of `GET /v1/runs`. */
export function runsParameters(search: RunsSearch, now: number) {
  const { status, agent, since, until, user, thread, origin } = search;
  return {
    status,
    agent_id: agent,
    user_id: user,
    thread_id: thread,
    origin,
    "created_at[gte]": since && new Date(spanStart(since, now)).toISOString(),
    "created_at[lte]": until && new Date(until).toISOString(),
  };
}

/** Whether a run that changed belongs to the list. */
export function fitsFilters(run: Run, search: RunsSearch, now: number): boolean {
  const { status, agent, since, until, user, thread, origin } = search;
  const at = Date.parse(run.created_at);
  return (
    (!status || run.status === status) &&
    (!agent || run.agent_id === agent) &&
    (!user || run.user_id === user) &&
    (!thread || run.thread_id === thread) &&
    (!origin || run.origin === origin) &&
    (!since || at >= spanStart(since, now)) &&
    (!until || at <= Date.parse(until))
  );
}

/** Whether a run has a text: in its id, input, output, error, user, or its agent's name. */
export function hasText(run: Run, agent: string, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  const { id, input, output, error, user_id, thread_id } = run;
  return [id, agent, wholeText(input), output, error?.code, error?.message, user_id, thread_id].some((each) =>
    each?.toLowerCase().includes(wanted),
  );
}

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

import type { Origin as RunOrigin } from "../../../../server/core/origin.ts";
import { wholeText } from "../../../../server/core/run-input.ts";
import type { RunStatus } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { spanStart } from "./time-span.ts";

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

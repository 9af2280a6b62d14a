import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ThreadStatus } from "../../../../server/wire/names.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { List } from "../../../../server/wire/schema.ts";
import type { Thread, ThreadMessage } from "../../../../server/wire/thread.ts";
import { get, query } from "../../lib/api.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { type At, resource } from "../resource/resource.ts";
import { runApi } from "../run/run-api.ts";

/** What the address of the list holds. */
export interface ThreadsSearch extends PageSearch {
  user?: string;
  session?: string;
  status?: ThreadStatus;
}

export const threadApi = resource<Thread>("threads");
export const threadQuery = threadApi.one;

/** A page of threads, the newest first. */
export const threadsQuery = (at: At, { user, session, status, ...page }: ThreadsSearch) =>
  threadApi.page(at, page, { user_id: user, session_id: session, status });

/** What was said, a page at a time, the newest first. */
export function messagesQuery(at: At, id: string) {
  return infiniteQueryOptions({
    queryKey: [...threadApi.of(at, id).queryKey, "messages"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const values = query({ limit: 100, starting_after: pageParam });
      return get<List<ThreadMessage>>(threadApi.url(at, id, `/messages${values}`), signal);
    },
    getNextPageParam: (page) => (page.has_more ? (page.last_id ?? undefined) : undefined),
  });
}

/** The newest runs of a thread, over or not. */
export function threadRunsQuery(at: At, id: string) {
  return queryOptions({
    queryKey: [...threadApi.of(at, id).queryKey, "runs"],
    queryFn: ({ signal }) => get<List<Run>>(runApi.url(at) + query({ limit: 100, thread_id: id }), signal),
  });
}

/** A run that is not over, with all that it was asked and asks for; read anew when it waits for something else. */
export function openRunQuery(at: At, { id, status, required_action }: Run) {
  const waits = required_action?.submit_tool_outputs.tool_calls.map((call) => `${call.id} ${call.needs}`);
  return queryOptions({
    queryKey: [...runApi.of(at, id).queryKey, "open", status, waits],
    queryFn: ({ signal }) => get<Run>(runApi.url(at, id), signal),
  });
}

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ThreadStatus } from "../../../../server/domain/api-types/enums.ts";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { Thread, ThreadMessage } from "../../../../server/domain/api-types/thread.ts";
import { get, query } from "../../lib/api.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import { runApi } from "../run/run-api.ts";

/** Search parameters of the list. */
export interface ThreadsSearch extends PageSearch {
  user?: string;
  session?: string;
  status?: ThreadStatus;
}

export const threadApi = resource<Thread>("threads");
export const threadQuery = threadApi.one;

/** A page of threads, newest first. */
export const threadsQuery = (at: WorkspaceKey, { user, session, status, ...page }: ThreadsSearch) =>
  threadApi.page(at, page, { user_id: user, session_id: session, status });

/** Messages of a thread, newest first, paginated. */
export function messagesQuery(at: WorkspaceKey, id: string) {
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

/** Newest runs of a thread. */
export function threadRunsQuery(at: WorkspaceKey, id: string) {
  return queryOptions({
    queryKey: [...threadApi.of(at, id).queryKey, "runs"],
    queryFn: ({ signal }) => get<List<Run>>(runApi.url(at) + query({ limit: 100, thread_id: id }), signal),
  });
}

/** An unfinished run with its input and pending calls; refetched when its required action changes. */
export function openRunQuery(at: WorkspaceKey, { id, status, required_action }: Run) {
  const consents = required_action?.authorizations?.flatMap(({ tool_calls }) => tool_calls) ?? [];
  const calls = [...(required_action?.submit_tool_outputs.tool_calls ?? []), ...consents];
  const waits = calls.map((call) => `${call.tool_call_id} ${call.needs}`);
  return queryOptions({
    queryKey: [...runApi.of(at, id).queryKey, "open", status, waits],
    queryFn: ({ signal }) => get<Run>(runApi.url(at, id), signal),
  });
}

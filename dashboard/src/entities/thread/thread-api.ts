import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List, Run } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";

export const threadStatuses = ["idle", "busy", "waiting"] as const;
export type ThreadStatus = (typeof threadStatuses)[number];

/** A conversation over several runs. */
export interface Thread {
  id: string;
  title: string | null;
  user_id: string | null;
  session_id: string | null;
  status: ThreadStatus;
  message_count: number;
  last_run_id: string | null;
  metadata: Record<string, string>;
  created_at: string;
  updated_at: string;
}

/** What was said in a thread, by a user, an agent or a tool. */
export interface ThreadMessage {
  id: string;
  run_id: string | null;
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  tool_calls?: { id: string; name: string; arguments: unknown }[];
  tool_call_id?: string;
  created_at: string;
}

/** What the address of the list holds. */
export interface ThreadsSearch extends PageSearch {
  user?: string;
  session?: string;
  status?: ThreadStatus;
}

const keyOf = (at: Workspace, ...more: unknown[]) => ["threads", at.projectId, at.mode, ...more];

/** Every read of threads of this project and mode, to be made anew. */
export const allThreads = (at: Workspace) => keyOf(at);

/** A page of threads, the newest first. */
export function threadsQuery(at: Workspace, search: ThreadsSearch) {
  const { user, session, status } = search;
  const path = `/threads${query({ limit: 50, user_id: user, session_id: session, status, ...pageQuery(search) })}`;
  return queryOptions({
    queryKey: keyOf(at, "list", search),
    queryFn: ({ signal }) => get<List<Thread>>(resourceUrl(at, path), signal),
  });
}

/** The address of a thread, or of what is below it. */
export const threadPath = (id: string, below = "") => `/threads/${encodeURIComponent(id)}${below}`;

/** One thread. */
export function threadQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: keyOf(at, id),
    queryFn: ({ signal }) => get<Thread>(resourceUrl(at, threadPath(id)), signal),
  });
}

/** What was said, a page at a time, the newest first. */
export function messagesQuery(at: Workspace, id: string) {
  return infiniteQueryOptions({
    queryKey: keyOf(at, id, "messages"),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const path = threadPath(id, `/messages${query({ limit: 100, starting_after: pageParam })}`);
      return get<List<ThreadMessage>>(resourceUrl(at, path), signal);
    },
    getNextPageParam: (page) => (page.has_more ? (page.last_id ?? undefined) : undefined),
  });
}

/** The newest runs of a thread, over or not. */
export function threadRunsQuery(at: Workspace, id: string) {
  return queryOptions({
    queryKey: keyOf(at, id, "runs"),
    queryFn: ({ signal }) => get<List<Run>>(resourceUrl(at, `/runs${query({ limit: 100, thread_id: id })}`), signal),
  });
}

/** A run that is not over, with all that it was asked and asks for; read anew when it waits for something else. */
export function openRunQuery(at: Workspace, { id, status, required_action }: Run) {
  const waits = required_action?.submit_tool_outputs.tool_calls.map((call) => `${call.id} ${call.needs}`);
  return queryOptions({
    queryKey: ["run", at.projectId, at.mode, id, "open", status, waits],
    queryFn: ({ signal }) => get<Run>(resourceUrl(at, `/runs/${encodeURIComponent(id)}`), signal),
  });
}

import { useQuery } from "@tanstack/react-query";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { List } from "../../lib/types.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { type Trouble, troublesOf, type WatchedSchedule, type WatchedWebhook } from "./fns/troubles.ts";

/** What fails among schedules and webhooks, as far as it is known by now. */
export function useTroubles(): Trouble[] {
  const at = useWorkspace();
  const schedules = useQuery(watchedQuery<WatchedSchedule>(at, "schedules"));
  const webhooks = useQuery(watchedQuery<WatchedWebhook>(at, "webhooks"));
  return troublesOf(schedules.data?.data ?? [], webhooks.data?.data ?? []);
}

const watchedQuery = <T>(at: Workspace, kind: "schedules" | "webhooks") => ({
  queryKey: [kind, at.projectId, at.mode, "overview"],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    get<List<T>>(resourceUrl(at, `/${kind}${query({ limit: 100 })}`), signal),
  refetchInterval: 15_000,
});

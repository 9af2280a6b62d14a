import { useQuery } from "@tanstack/react-query";
import { getAll } from "../../lib/get-all.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { type Trouble, troublesOf, type WatchedSchedule, type WatchedWebhook } from "./troubles.ts";

interface Troubles {
  troubles: Trouble[];
  /** All of them were read. */
  isKnown: boolean;
  error: Error | null;
  refetch: () => void;
}

/** What fails among schedules and webhooks, as far as it is known by now. */
export function useTroubles(): Troubles {
  const at = useWorkspace();
  const schedules = useQuery(watchedQuery<WatchedSchedule>(at, "schedules"));
  const webhooks = useQuery(watchedQuery<WatchedWebhook>(at, "webhooks"));
  return {
    troubles: troublesOf(schedules.data ?? [], webhooks.data ?? []),
    isKnown: schedules.data !== undefined && webhooks.data !== undefined,
    error: schedules.error ?? webhooks.error,
    refetch: () => {
      void schedules.refetch();
      void webhooks.refetch();
    },
  };
}

const watchedQuery = <T extends { id: string }>(at: Workspace, kind: "schedules" | "webhooks") => ({
  queryKey: [kind, at.projectId, at.mode, "overview"],
  queryFn: ({ signal }: { signal: AbortSignal }) => getAll<T>(at, `/${kind}`, {}, signal),
  refetchInterval: 15_000,
});

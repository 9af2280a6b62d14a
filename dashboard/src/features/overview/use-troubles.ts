import { useQuery } from "@tanstack/react-query";
import { scheduleApi } from "../../entities/schedule/schedule-api.ts";
import { webhookApi } from "../../entities/webhook/webhook-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { type Trouble, troublesOf } from "./troubles.ts";

interface Troubles {
  troubles: Trouble[];
  /** All of them were read. */
  isKnown: boolean;
  error: Error | null;
  refetch: () => void;
}

const again = { staleTime: 0, refetchInterval: 15_000 };

/** What fails among schedules and webhooks, as far as it is known by now. */
export function useTroubles(): Troubles {
  const at = useWorkspace();
  const schedules = useQuery({ ...scheduleApi.every(at), ...again });
  const webhooks = useQuery({ ...webhookApi.every(at), ...again });
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

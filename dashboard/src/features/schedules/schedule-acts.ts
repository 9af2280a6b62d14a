import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { scheduleApi, triggerSchedule } from "../../entities/schedule/schedule-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { failed, toast } from "../../ui/toast.ts";

/** What is being done to a schedule, in its dialog. */
export type ScheduleAct = { kind: "create" } | { kind: "edit" | "delete"; schedule: Schedule };

/** Reads all that tells of schedules anew. */
export function useRefreshSchedules(): () => Promise<void> {
  const client = useQueryClient();
  const at = useWorkspace();
  return () => client.invalidateQueries(scheduleApi.all(at));
}

/** Starts a run now, beside the plan. */
export function useRunNow() {
  const at = useWorkspace();
  const refresh = useRefreshSchedules();
  return useMutation({
    mutationFn: (schedule: Schedule) => triggerSchedule(at, schedule.id),
    onSuccess: async (run, schedule) => {
      toast("Run started", `${schedule.name} · ${run.id}`);
      await refresh();
    },
  });
}

/** Pauses a schedule, or lets it go on. */
export function useSwitchSchedule() {
  const at = useWorkspace();
  const refresh = useRefreshSchedules();
  return useMutation({
    mutationFn: ({ id, enabled }: Schedule) => scheduleApi.change(at, id, { enabled: !enabled }),
    onSuccess: async ({ enabled, name }) => {
      toast(enabled ? "Schedule resumed" : "Schedule paused", name);
      await refresh();
    },
    onError: (error, { enabled }) => failed(`The schedule was not ${enabled ? "paused" : "resumed"}`, error.message),
  });
}

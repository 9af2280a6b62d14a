import { useMutation, useQuery } from "@tanstack/react-query";
import { Pause, Pencil, Play, Trash2 } from "lucide-react";
import { useEffect } from "react";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { scheduleApi, scheduleQuery, triggerSchedule } from "../../entities/schedule/schedule-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActsMenu } from "../../ui/acts-menu.tsx";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { failed, toast } from "../../ui/toast.ts";
import { ScheduleForm } from "./schedule-form.tsx";

/** What is being done to a schedule, in its dialog. */
export type ScheduleAct = { kind: "create" } | { kind: "edit" | "delete"; schedule: Schedule };

/** Starts a run now, beside the plan. */
export function useRunNow() {
  const at = useWorkspace();
  const refresh = useRefresh(scheduleApi);
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
  const refresh = useRefresh(scheduleApi);
  return useMutation({
    mutationFn: ({ id, enabled }: Schedule) => scheduleApi.change(at, id, { enabled: !enabled }),
    onSuccess: async ({ enabled, name }) => {
      toast(enabled ? "Schedule resumed" : "Schedule paused", name);
      await refresh();
    },
    onError: (error, { enabled }) => failed(`The schedule was not ${enabled ? "paused" : "resumed"}`, error.message),
  });
}

/** All that can be done with a schedule. */
export function ScheduleMenu({ schedule, onAct }: { schedule: Schedule; onAct: (act: ScheduleAct) => void }) {
  const switching = useSwitchSchedule();
  return (
    <ActsMenu
      of={schedule.name}
      acts={[
        { icon: Pencil, word: "Edit schedule", onDo: () => onAct({ kind: "edit", schedule }) },
        {
          icon: schedule.enabled ? Pause : Play,
          word: schedule.enabled ? "Pause schedule" : "Resume schedule",
          onDo: () => switching.mutate(schedule),
        },
        { icon: Trash2, word: "Delete schedule", danger: true, onDo: () => onAct({ kind: "delete", schedule }) },
      ]}
    />
  );
}

/** The dialog of what is being done to a schedule. */
export function ScheduleDialogs({
  act,
  onAct,
  onDeleted,
}: {
  act: ScheduleAct | null;
  onAct: (act: ScheduleAct | null) => void;
  onDeleted?: () => void;
}) {
  const at = useWorkspace();
  const close = () => onAct(null);
  if (!act) return null;
  if (act.kind === "create") return <ScheduleForm onClose={close} />;
  if (act.kind === "edit") return <EditSchedule listed={act.schedule} onClose={close} />;
  return (
    <DeleteDialog
      noun="schedule"
      name={act.schedule.name}
      remove={() => scheduleApi.remove(at, act.schedule.id)}
      stale={[scheduleApi.all(at)]}
      onClose={close}
      onDeleted={onDeleted}
    >
      No more runs start, and the list of past runs is deleted. Runs that it started continue and stay in the list.
    </DeleteDialog>
  );
}

/** The form of a schedule, once all of it is here: a list has but the beginning of a long input. */
function EditSchedule({ listed, onClose }: { listed: Schedule; onClose: () => void }) {
  const isCut = listed.truncated !== undefined;
  const { data, error } = useQuery({ ...scheduleQuery(useWorkspace(), listed.id), enabled: isCut });
  const schedule = isCut ? data : listed;
  useEffect(() => {
    if (!error) return;
    failed("The schedule cannot be shown", error.message);
    onClose();
  }, [error, onClose]);
  return schedule ? <ScheduleForm schedule={schedule} onClose={onClose} /> : null;
}

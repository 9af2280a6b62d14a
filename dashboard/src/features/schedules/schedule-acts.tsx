import { useMutation, useQuery } from "@tanstack/react-query";
import { Pencil, Trash2 } from "lucide-react";
import { useEffect } from "react";
import type { Schedule } from "../../../../server/domain/api-types/schedule.ts";
import { switchAction, useSwitchAutomation } from "../../entities/automation/switch-automation.tsx";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { scheduleApi, scheduleQuery, triggerSchedule } from "../../entities/schedule/schedule-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { ScheduleForm } from "./schedule-form.tsx";

/** Open dialog of a schedule. */
export type ScheduleAct = { kind: "create" } | { kind: "edit" | "delete"; schedule: Schedule };

/** Starts a run now, independent of the schedule. */
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

/** Pauses or resumes a schedule. */
export const useSwitchSchedule = () => useSwitchAutomation(scheduleApi, "schedule");

/** Menu of a schedule's actions. */
export function ScheduleMenu({ schedule, onAct }: { schedule: Schedule; onAct: (act: ScheduleAct) => void }) {
  const switching = useSwitchSchedule();
  return (
    <ActionsMenu
      of={schedule.name}
      acts={[
        { icon: Pencil, word: "Edit schedule", onDo: () => onAct({ kind: "edit", schedule }) },
        switchAction("schedule", schedule, switching),
        { icon: Trash2, word: "Delete schedule", danger: true, onDo: () => onAct({ kind: "delete", schedule }) },
      ]}
    />
  );
}

/** Dialog of the chosen action. */
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

/** Edit form. Fetches the whole schedule first if the list item has a truncated input. */
function EditSchedule({ listed, onClose }: { listed: Schedule; onClose: () => void }) {
  const isCut = listed.truncated !== undefined;
  const { data, error } = useQuery({ ...scheduleQuery(useWorkspace(), listed.id), enabled: isCut });
  const schedule = isCut ? data : listed;
  useEffect(() => {
    if (!error) return;
    toastFailure("The schedule cannot be shown", error.message);
    onClose();
  }, [error, onClose]);
  return schedule ? <ScheduleForm schedule={schedule} onClose={onClose} /> : null;
}

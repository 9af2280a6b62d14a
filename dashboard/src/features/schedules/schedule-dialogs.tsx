import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { scheduleApi, scheduleQuery } from "../../entities/schedule/schedule-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { failed } from "../../ui/toast.ts";
import type { ScheduleAct } from "./schedule-acts.ts";
import { ScheduleForm } from "./schedule-form.tsx";

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
  const close = () => onAct(null);
  if (!act) return null;
  switch (act.kind) {
    case "create":
      return <ScheduleForm onClose={close} />;
    case "edit":
      return <EditSchedule listed={act.schedule} onClose={close} />;
    case "delete":
      return <DeleteSchedule schedule={act.schedule} onClose={close} onDeleted={onDeleted} />;
  }
}

/** The form of a schedule, once all of it is here: a list has but the beginning of a long input. */
function EditSchedule({ listed, onClose }: { listed: Schedule; onClose: () => void }) {
  const at = useWorkspace();
  const isCut = listed.truncated !== undefined;
  const whole = useQuery({ ...scheduleQuery(at, listed.id), enabled: isCut });
  const schedule = isCut ? whole.data : listed;
  const { error } = whole;
  useEffect(() => {
    if (!error) return;
    failed("The schedule cannot be shown", error.message);
    onClose();
  }, [error, onClose]);
  return schedule ? <ScheduleForm schedule={schedule} onClose={onClose} /> : null;
}

function DeleteSchedule({
  schedule,
  onClose,
  onDeleted,
}: {
  schedule: Schedule;
  onClose: () => void;
  onDeleted?: () => void;
}) {
  const at = useWorkspace();
  return (
    <DeleteDialog
      noun="schedule"
      name={schedule.name}
      remove={() => scheduleApi.remove(at, schedule.id)}
      stale={[scheduleApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>
        It fires no more, and what came of its times is forgotten. Runs that it started go on, and stay in the list.
      </p>
    </DeleteDialog>
  );
}

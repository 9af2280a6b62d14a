import { Ellipsis, Pause, Pencil, Play, Trash2 } from "lucide-react";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { type ScheduleAct, useSwitchSchedule } from "./schedule-acts.ts";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** All that can be done with a schedule. */
export function ScheduleMenu({ schedule, onAct }: { schedule: Schedule; onAct: (act: ScheduleAct) => void }) {
  const switching = useSwitchSchedule();
  const trigger = (
    <button
      type="button"
      className={buttonClass({ kind: "ghost", size: "icon-sm" })}
      aria-label={`More for ${schedule.name}`}
    >
      <Ellipsis {...icon} />
    </button>
  );
  return (
    <Menu trigger={trigger} align="end">
      {({ MenuItem, MenuLine }) => (
        <>
          <MenuItem onClick={() => onAct({ kind: "edit", schedule })}>
            <Pencil {...icon} />
            Edit schedule
          </MenuItem>
          <MenuItem onClick={() => switching.mutate(schedule)}>
            {schedule.enabled ? <Pause {...icon} /> : <Play {...icon} />}
            {schedule.enabled ? "Pause schedule" : "Resume schedule"}
          </MenuItem>
          <MenuLine />
          <MenuItem onClick={() => onAct({ kind: "delete", schedule })}>
            <Trash2 {...icon} />
            <span className="text-bad">Delete schedule</span>
          </MenuItem>
        </>
      )}
    </Menu>
  );
}

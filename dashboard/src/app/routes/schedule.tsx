import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { SchedulePage } from "../../features/schedules/schedule-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/schedules/:id?outcome=&after=&before=`. */
export function ScheduleRoute() {
  const { scheduleId } = useParams({ from: "/shell/schedules/$scheduleId" });
  const search = useSearch({ from: "/shell/schedules/$scheduleId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <SchedulePage
      key={scheduleId}
      id={scheduleId}
      search={search}
      onSearch={(next) => void navigate({ to: "/schedules/$scheduleId", params: { scheduleId }, search: next })}
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
      onLeave={() => void navigate({ to: "/schedules", ignoreBlocker: true })}
    />
  );
}

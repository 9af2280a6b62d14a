import { useNavigate, useSearch } from "@tanstack/react-router";
import { SchedulesPage } from "../../features/schedules/schedules-page.tsx";

/** `/dashboard/schedules?after=&before=`. */
export function SchedulesRoute() {
  const search = useSearch({ from: "/shell/schedules" });
  const navigate = useNavigate();
  return <SchedulesPage search={search} onSearch={(next) => void navigate({ to: "/schedules", search: next })} />;
}

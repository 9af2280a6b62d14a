import { useNavigate, useSearch } from "@tanstack/react-router";
import { RunsPage } from "../../features/runs/runs-page.tsx";

/** `/dashboard/runs?status=&after=&before=`. */
export function RunsRoute() {
  const search = useSearch({ from: "/shell/runs" });
  const navigate = useNavigate();
  return <RunsPage search={search} onSearch={(next) => void navigate({ to: "/runs", search: next })} />;
}

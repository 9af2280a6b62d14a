import { useNavigate, useSearch } from "@tanstack/react-router";
import { RunsPage } from "../../features/runs/runs-page.tsx";

/** `/dashboard/runs?status=&agent=&since=&until=&user=&thread=&origin=&q=&after=&before=`. */
export function RunsRoute() {
  const search = useSearch({ from: "/shell/runs" });
  const navigate = useNavigate();
  return (
    <RunsPage
      search={search}
      onSearch={(next, replace) => void navigate({ to: "/runs", search: next, replace })}
      onOpenRun={(runId) => void navigate({ to: "/runs/$runId", params: { runId } })}
      onCompare={(runId, otherId) => void navigate({ to: "/runs/$runId/diff/$otherId", params: { runId, otherId } })}
    />
  );
}

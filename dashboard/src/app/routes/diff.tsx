import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { DiffPage } from "../../features/diff/diff-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/runs/:id/diff/:other_id?hide=`. */
export function DiffRoute() {
  const { runId, otherId } = useParams({ from: "/shell/runs/$runId/diff/$otherId" });
  const search = useSearch({ from: "/shell/runs/$runId/diff/$otherId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <DiffPage
      key={`${runId} ${otherId}`}
      id={runId}
      otherId={otherId}
      search={search}
      onSearch={(next) =>
        void navigate({ to: "/runs/$runId/diff/$otherId", params: { runId, otherId }, search: next, replace: true })
      }
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
    />
  );
}

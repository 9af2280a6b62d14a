import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { RunPage } from "../../features/runs/run-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/runs/:id?view=`. */
export function RunRoute() {
  const { runId } = useParams({ from: "/shell/runs/$runId" });
  const { view } = useSearch({ from: "/shell/runs/$runId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <RunPage
      key={runId}
      id={runId}
      view={view ?? "output"}
      onView={(next) =>
        void navigate({
          to: "/runs/$runId",
          params: { runId },
          search: next === "events" ? { view: next } : {},
          replace: true,
        })
      }
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
    />
  );
}

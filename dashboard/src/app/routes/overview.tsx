import { useNavigate, useSearch } from "@tanstack/react-router";
import { OverviewPage } from "../../features/overview/overview-page.tsx";

/** `/dashboard/overview?period=&v=`. */
export function OverviewRoute() {
  const search = useSearch({ from: "/shell/overview" });
  const navigate = useNavigate();
  return (
    <OverviewPage
      search={search}
      onSearch={(next) => void navigate({ to: "/overview", search: next, replace: true })}
    />
  );
}

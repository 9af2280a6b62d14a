import { useNavigate, useSearch } from "@tanstack/react-router";
import { AgentsPage } from "../../features/agents/agents-page.tsx";

/** `/dashboard/agents?q=&after=&before=`. */
export function AgentsRoute() {
  const search = useSearch({ from: "/shell/agents" });
  const navigate = useNavigate();
  return (
    <AgentsPage
      search={search}
      onSearch={(next) => void navigate({ to: "/agents", search: next, replace: "q" in next || "q" in search })}
    />
  );
}

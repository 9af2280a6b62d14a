import { useNavigate, useSearch } from "@tanstack/react-router";
import { ToolsPage } from "../../features/tools/tools-page.tsx";

/** `/dashboard/tools?type=&after=&before=`. */
export function ToolsRoute() {
  const search = useSearch({ from: "/shell/tools" });
  const navigate = useNavigate();
  return (
    <ToolsPage
      search={search}
      onSearch={(next) => void navigate({ to: "/tools", search: next })}
      onCreate={() => void navigate({ to: "/tools/new" })}
    />
  );
}

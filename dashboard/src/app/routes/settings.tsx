import { useNavigate, useSearch } from "@tanstack/react-router";
import { SettingsPage } from "../../features/settings/settings-page.tsx";
import { useRefreshSession } from "../use-refresh-session.ts";

/** `/dashboard/settings?tab=`. */
export function SettingsRoute() {
  const search = useSearch({ from: "/shell/settings" });
  const navigate = useNavigate();
  return (
    <SettingsPage
      search={search}
      onSearch={(next) => void navigate({ to: "/settings", search: next })}
      onProjectsChanged={useRefreshSession()}
    />
  );
}

import { SettingsPage } from "../../features/settings/settings-page.tsx";
import { useRefreshSession } from "../use-refresh-session.ts";

/** `/dashboard/settings`. */
export function SettingsRoute() {
  return <SettingsPage onProjectsChanged={useRefreshSession()} />;
}

import { useNavigate, useSearch } from "@tanstack/react-router";
import { StartPage } from "../../features/first-run/start-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/start?step=&agent=`. */
export function StartRoute() {
  const search = useSearch({ from: "/shell/start" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <StartPage
      search={search}
      onSearch={(next) => void navigate({ to: "/start", search: next })}
      onTestData={() => switchMode("test", { keepPage: true })}
    />
  );
}

import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ToolPage } from "../../features/tools/tool-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/tools/:id?tab=&tool=`. */
export function ToolRoute() {
  const { toolId } = useParams({ from: "/shell/tools/$toolId" });
  const search = useSearch({ from: "/shell/tools/$toolId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <ToolPage
      key={toolId}
      id={toolId}
      search={search}
      onSearch={(next) => void navigate({ to: "/tools/$toolId", params: { toolId }, search: next })}
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
      onLeave={() => void navigate({ to: "/tools", ignoreBlocker: true })}
    />
  );
}

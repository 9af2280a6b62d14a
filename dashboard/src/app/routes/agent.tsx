import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { AgentPage } from "../../features/agents/agent-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/agents/:id?tab=&version=&against=`. */
export function AgentRoute() {
  const { agentId } = useParams({ from: "/shell/agents/$agentId" });
  const search = useSearch({ from: "/shell/agents/$agentId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <AgentPage
      key={agentId}
      id={agentId}
      search={search}
      onSearch={(next) => void navigate({ to: "/agents/$agentId", params: { agentId }, search: next })}
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
      onLeave={() => void navigate({ to: "/agents", ignoreBlocker: true })}
    />
  );
}

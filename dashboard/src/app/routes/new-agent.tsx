import { useNavigate } from "@tanstack/react-router";
import { NewAgentPage } from "../../features/agents/new-agent-page.tsx";

/** `/dashboard/agents/new`. */
export function NewAgentRoute() {
  const navigate = useNavigate();
  return <NewAgentPage onCreated={(agentId) => void navigate({ to: "/agents/$agentId", params: { agentId } })} />;
}

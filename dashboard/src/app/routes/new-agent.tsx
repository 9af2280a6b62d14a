import { useNavigate } from "@tanstack/react-router";
import { NewAgentPage } from "../../features/agents/new-agent-page.tsx";
import { useWorkspace } from "../../lib/workspace.ts";

/** `/dashboard/agents/new`. */
export function NewAgentRoute() {
  const navigate = useNavigate();
  const { projectId, mode } = useWorkspace();
  // What is written for one project and mode is nothing for another.
  return (
    <NewAgentPage
      key={`${projectId} ${mode}`}
      onCreated={(agentId) => void navigate({ to: "/agents/$agentId", params: { agentId } })}
    />
  );
}

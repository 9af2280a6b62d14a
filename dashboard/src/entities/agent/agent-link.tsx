import { Link } from "@tanstack/react-router";
import { useAgentName } from "./use-agent-name.ts";

/** An agent's name with a link to its page. Agents that were deleted or belong to another server have no link. */
export function AgentLink({ id, className = "text-accent hover:underline" }: { id: string; className?: string }) {
  const name = useAgentName(id);
  if (name === "…" || name === id || name.endsWith(" (deleted)")) return <>{name}</>;
  return (
    <Link to="/agents/$agentId" params={{ agentId: id }} className={className}>
      {name}
    </Link>
  );
}

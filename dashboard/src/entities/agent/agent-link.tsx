import { Link } from "@tanstack/react-router";
import { useAgentName } from "./use-agent-name.ts";

/** An agent's name, which leads to its page. One that was deleted, or belongs to another server, has no page. */
export function AgentLink({ id, className = "text-accent hover:underline" }: { id: string; className?: string }) {
  const name = useAgentName(id);
  if (name === "…" || name === id || name.endsWith(" (deleted)")) return <>{name}</>;
  return (
    <Link to="/agents/$agentId" params={{ agentId: id }} className={className}>
      {name}
    </Link>
  );
}

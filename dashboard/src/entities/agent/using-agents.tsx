import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AgentListItem } from "../../../../server/resources/agents/schema.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { agentApi } from "./agent-api.ts";

/** Agents that use something, as links; a word if there are none. */
export function UsingAgents({ uses }: { uses: (agent: AgentListItem) => boolean }) {
  const { data } = useQuery(agentApi.every(useWorkspace()));
  if (!data) return null;
  const using = data.filter(uses);
  if (using.length === 0) return <span className="text-muted">No agent uses it.</span>;
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-3 gap-y-0.5">
      {using.map(({ id, name }) => (
        <li key={id} className="min-w-0 max-w-60">
          <Link
            to="/agents/$agentId"
            params={{ agentId: id }}
            className="cut block text-accent hover:underline"
            title={name}
          >
            {name}
          </Link>
        </li>
      ))}
    </ul>
  );
}

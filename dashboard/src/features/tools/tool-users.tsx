import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Tool } from "../../../../server/tools/schema.ts";
import { usersQuery } from "../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";

const shown = 3;

/** The agents that have a tool. */
export function ToolUsers({ tool }: { tool: Pick<Tool, "id"> }) {
  const at = useWorkspace();
  const users = useQuery(usersQuery(at)).data?.users[tool.id] ?? [];
  if (users.length === 0)
    return (
      <span className="text-xs text-muted max-rail:hidden">
        No agent uses it.{" "}
        <Link to="/agents/new" className="text-accent underline underline-offset-2">
          Create one
        </Link>
      </span>
    );
  return (
    <span className="cut text-xs text-muted max-full:hidden">
      {"Used by "}
      {users.slice(0, shown).map(({ id, name }, i) => (
        <span key={id}>
          {i > 0 && ", "}
          <Link to="/agents/$agentId" params={{ agentId: id }} className="text-accent hover:underline">
            {name}
          </Link>
        </span>
      ))}
      {users.length > shown && ` and ${users.length - shown} more`}
    </span>
  );
}

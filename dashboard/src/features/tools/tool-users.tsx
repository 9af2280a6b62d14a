import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { usersQuery } from "../../entities/tool/tool-api.ts";
import { unknownText } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Description } from "../../ui/data/description-list.tsx";

const shown = 3;

/** Agents that use a tool. */
export function ToolUsers({ tool }: { tool: Pick<Tool, "id"> }) {
  const at = useWorkspace();
  const { data } = useQuery(usersQuery(at));
  const users = data?.users[tool.id] ?? [];
  return (
    <Description name="Used by">
      <span className="min-w-0 wrap-anywhere">
        {!data && unknownText}
        {data && users.length === 0 && (
          <>
            No agent.{" "}
            <Link to="/agents/new" className="text-accent underline underline-offset-2">
              Create one
            </Link>
          </>
        )}
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
    </Description>
  );
}

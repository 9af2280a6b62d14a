import { useQuery } from "@tanstack/react-query";
import type { Tool } from "../../../../server/wire/tool.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { toolApi, usersQuery } from "../../entities/tool/tool-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";

/** Deletes a tool. In live, one that agents have is deleted only once its name was typed. */
export function DeleteTool({ tool, onClose, onDeleted }: { tool: Tool; onClose: () => void; onDeleted: () => void }) {
  const at = useWorkspace();
  const read = useQuery(usersQuery(at));
  const users = read.data?.users[tool.id] ?? [];
  const mayHaveUsers = users.length > 0 || !read.data?.isWhole;
  return (
    <DeleteDialog
      noun="tool"
      name={tool.name}
      typed={at.mode === "live" && mayHaveUsers}
      busy={read.isPending}
      remove={() => toolApi.remove(at, tool.id)}
      gone={toolApi.of(at, tool.id)}
      stale={[toolApi.all(at), agentApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>
        {users.length > 0 &&
          `${plural(users.length, "agent")} lose${users.length === 1 ? "s" : ""} it: ${users.map(({ name }) => name).join(", ")}. `}
        {read.data?.isWhole === false && "There are so many agents that not all were looked at: more may lose it. "}
        {!mayHaveUsers && "No agent has it. "}
        Runs that are under way keep what they began with.
      </p>
      {read.error && (
        <div className="mt-3">
          <ErrorNote title="Which agents have it is not known" error={read.error} onRetry={() => void read.refetch()} />
        </div>
      )}
    </DeleteDialog>
  );
}

import { useQuery } from "@tanstack/react-query";
import type { Agent } from "../../../../server/wire/agent.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { agentRunsQuery } from "../../entities/run/run-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";

/** Deletes an agent. In live, one that has runs is deleted only once its name was typed. */
export function DeleteAgent({
  agent,
  onClose,
  onDeleted,
}: {
  agent: Pick<Agent, "id" | "name" | "version">;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const at = useWorkspace();
  const runs = useQuery(agentRunsQuery(at, agent.id));
  const count = runs.data?.data.length ?? 0;
  return (
    <DeleteDialog
      noun="agent"
      name={agent.name}
      typed={at.mode === "live" && (count > 0 || runs.isError)}
      busy={runs.isPending}
      remove={() => agentApi.remove(at, agent.id)}
      gone={agentApi.of(at, agent.id)}
      stale={[agentApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>
        {agent.version === 1 ? "Its only version is" : `All of its ${agent.version} versions are`} gone, and no new run
        of it starts: not from the API, not from a schedule, not as another agent's tool.
      </p>
      {runs.data && <p className="mt-2">{effectOnRuns(count, runs.data.has_more)}</p>}
      {runs.error && (
        <div className="mt-3">
          <ErrorNote title="Whether it has runs is not known" error={runs.error} onRetry={() => void runs.refetch()} />
        </div>
      )}
    </DeleteDialog>
  );
}

function effectOnRuns(count: number, more: boolean): string {
  if (count === 0) return "It has no runs.";
  const shown = more ? `more than ${count}` : String(count);
  return `Its ${shown} ${count === 1 && !more ? "run stays" : "runs stay"}, with their traces. What is under way goes on.`;
}

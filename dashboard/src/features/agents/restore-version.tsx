import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Agent, AgentVersion } from "../../../../server/resources/agents/schema.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { changedFields, fieldWords, restorationOf } from "../../entities/agent/agent-draft.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";

/** Restores an earlier version by saving it as a new one. Deleted tools are left out. */
export function RestoreVersion({
  agent,
  version,
  onClose,
  onRestored,
}: {
  agent: Agent;
  version: AgentVersion;
  onClose: () => void;
  onRestored: () => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const tools = useQuery(toolApi.every(at));
  const toolExists = (id: string) => tools.data?.some((tool) => tool.id === id) ?? true;
  const deletedTools = version.tools.filter(({ id }) => !toolExists(id));
  const fields = fieldWords(changedFields(agent, version));
  return (
    <ActionDialog
      title={`Restore version ${version.version}`}
      act={`Restore version ${version.version}`}
      acting="Restoring"
      kind="primary"
      busy={tools.isPending || fields.length === 0}
      refused="The version was not restored"
      run={() =>
        agentApi.change(at, agent.id, { ...restorationOf(version, toolExists), expected_version: agent.version })
      }
      stale={[agentApi.of(at, agent.id), agentApi.all(at)]}
      onClose={onClose}
      onDone={(saved) => {
        toast("Version restored", `${saved.name} is at version ${saved.version}`);
        client.setQueryData(agentApi.one(at, saved.id).queryKey, saved);
        onRestored();
      }}
    >
      <p>
        {fields.length === 0
          ? `Version ${version.version} equals version ${agent.version}: there is nothing to restore.`
          : `Version ${agent.version + 1} is saved with these fields of version ${version.version}: ${fields.join(", ")}. Runs in progress keep their version.`}
      </p>
      {deletedTools.length > 0 && (
        <p className="mt-2 text-warn">
          Left out because they were deleted: {deletedTools.map(({ name }) => name || "a tool").join(", ")}.
        </p>
      )}
    </ActionDialog>
  );
}

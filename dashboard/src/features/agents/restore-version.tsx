import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Agent, AgentVersion } from "../../../../server/wire/agent.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { changedFields, fieldWords, restorationOf } from "../../entities/agent/agent-draft.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";

/** Makes an agent what it was at a version, as a new version. */
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
  const isThere = (id: string) => tools.data?.some((tool) => tool.id === id) ?? true;
  const gone = version.tools.filter(({ id }) => !isThere(id));
  const restoration = useMutation({
    mutationFn: () =>
      agentApi.change(at, agent.id, { ...restorationOf(version, isThere), expected_version: agent.version }),
    onSuccess: (saved) => {
      toast("Version restored", `${saved.name} is at version ${saved.version}`);
      client.setQueryData(agentApi.one(at, saved.id).queryKey, saved);
      void client.invalidateQueries(agentApi.of(at, saved.id));
      void client.invalidateQueries(agentApi.all(at));
      onClose();
      onRestored();
    },
    onError: () => void client.invalidateQueries(agentApi.of(at, agent.id)),
  });
  const fields = fieldWords(changedFields(agent, version));
  return (
    <ConfirmDialog
      title={`Restore version ${version.version}`}
      act={`Restore version ${version.version}`}
      acting="Restoring"
      keep={`Keep version ${agent.version}`}
      kind="primary"
      busy={tools.isPending || fields.length === 0}
      doing={restoration}
      refused="The version was not restored"
      onConfirm={() => restoration.mutate()}
      onClose={onClose}
    >
      <p>
        {fields.length === 0
          ? `Version ${version.version} says the same as version ${agent.version}: there is nothing to restore.`
          : `The agent becomes version ${agent.version + 1}, with what version ${version.version} says of: ${fields.join(", ")}. Runs in progress keep theirs.`}
      </p>
      {gone.length > 0 && (
        <p className="mt-2 text-warn">
          Left out, since they were deleted: {gone.map(({ name }) => name || "a tool").join(", ")}.
        </p>
      )}
    </ConfirmDialog>
  );
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { ApiError } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/feedback/toast.ts";
import type { EditedAgent } from "./use-draft.ts";

/** Saves the draft as the agent's next version. On a conflict, fetches the version saved elsewhere. */
export function useSaveAgent({ base, draft, take }: EditedAgent) {
  const at = useWorkspace();
  const client = useQueryClient();
  const { queryKey } = agentApi.one(at, base.id);
  return useMutation({
    mutationFn: (changes: Record<string, unknown>) =>
      agentApi.change(at, base.id, { ...changes, expected_version: base.version }),
    onMutate: () => draft,
    onSuccess: (saved, _, sent) => {
      take(saved, sent);
      client.setQueryData(queryKey, saved);
      void client.invalidateQueries(agentApi.all(at));
      toast(`Saved as version ${saved.version}`);
    },
    onError: async (error) => {
      if (isConflict(error)) await client.refetchQueries({ queryKey });
    },
  });
}

/** True if another person has saved a version in the meantime. */
export const isConflict = (error: Error): boolean => error instanceof ApiError && error.code === "version_conflict";

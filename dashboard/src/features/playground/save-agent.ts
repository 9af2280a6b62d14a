import { useMutation, useQueryClient } from "@tanstack/react-query";
import { patch, resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/toast.ts";
import type { FullAgent } from "./fns/playground-types.ts";
import { fullAgentQuery } from "./playground-api.ts";

/** Keeps what was changed as the agent's next version, unless somebody else was faster. */
export function useSaveAgent(agent: FullAgent) {
  const at = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changes: Record<string, unknown>) =>
      patch<FullAgent>(resourceUrl(at, `/agents/${encodeURIComponent(agent.id)}`), {
        ...changes,
        expected_version: agent.version,
      }),
    onSuccess: (saved) => {
      client.setQueryData(fullAgentQuery(at, agent.id).queryKey, saved);
      void client.invalidateQueries({ queryKey: ["agents"] });
      toast(`Saved as version ${saved.version}`);
    },
  });
}

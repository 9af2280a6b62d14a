import { useMutation } from "@tanstack/react-query";
import { post, resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** Cancels a run; its stream says when that is done. */
export function useStop() {
  const at = useWorkspace();
  return useMutation({
    mutationFn: (runId: string) =>
      post(resourceUrl(at, `/runs/${encodeURIComponent(runId)}/cancel`), { reason: "Stopped in the playground" }),
  });
}

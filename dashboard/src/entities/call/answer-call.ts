import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post, resourceUrl } from "../../lib/api.ts";
import type { Run } from "../../lib/types.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/toast.ts";

/** What a person says to a call that waits: an output, or a decision. */
export interface ToolAnswer {
  tool_call_id: string;
  output?: unknown;
  is_error?: boolean;
  decision?: "approve" | "reject";
  reason?: string;
  arguments?: Record<string, unknown>;
}

/** Answers a call of a run, and makes every page that shows it read it anew. */
export function useAnswerCall(runId: string) {
  const at = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (answer: ToolAnswer) =>
      post<Run>(resourceUrl(at, `/runs/${encodeURIComponent(runId)}/submit_tool_outputs`), { tool_outputs: [answer] }),
    onSuccess: (run, answer) => {
      client.setQueryData(["run", at.projectId, at.mode, run.id], run);
      for (const key of ["run", "trace", "approvals"]) void client.invalidateQueries({ queryKey: [key] });
      toast(wordOf(answer));
    },
    // Somebody else may have been faster: what stands there now says so.
    onError: () => void client.invalidateQueries({ queryKey: ["run", at.projectId, at.mode, runId] }),
  });
}

function wordOf({ decision, is_error, arguments: edited }: ToolAnswer): string {
  if (decision === "reject") return "Call rejected";
  if (decision === "approve") return edited ? "Call approved with other arguments" : "Call approved";
  return is_error ? "Error sent" : "Output sent";
}

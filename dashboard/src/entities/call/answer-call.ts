import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { SubmitToolOutputs } from "../../../../server/runs/schema.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { post } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/toast.ts";
import { runApi, runQuery } from "../run/run-api.ts";
import { approvalApi } from "./approval-api.ts";

/** What a person says to a call that waits: an output, or a decision. */
export type ToolAnswer = SubmitToolOutputs["tool_outputs"][number];

/** Answers a call of a run, and makes every page that shows it read it anew. */
export function useAnswerCall(runId: string) {
  const at = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (answer: ToolAnswer) =>
      post<Run>(runApi.url(at, runId, "/submit_tool_outputs"), { tool_outputs: [answer] }),
    onSuccess: (run, answer) => {
      client.setQueryData(runQuery(at, run.id).queryKey, run);
      for (const api of [runApi, approvalApi]) void client.invalidateQueries(api.all(at));
      toast(wordOf(answer));
    },
    // Somebody else may have been faster: what stands there now says so.
    onError: () => void client.invalidateQueries(runApi.of(at, runId)),
  });
}

function wordOf({ decision, is_error, arguments: edited }: ToolAnswer): string {
  if (decision === "reject") return "Call rejected";
  if (decision === "approve") return edited ? "Call approved with other arguments" : "Call approved";
  return is_error ? "Error sent" : "Output sent";
}

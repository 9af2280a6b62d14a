import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { SubmitToolOutputs } from "../../../../server/runs/schema.ts";
import { post } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/feedback/toast.ts";
import { runApi, runQuery } from "../run/run-api.ts";
import { approvalApi } from "./approval-api.ts";

/** A person's answer to a pending call: an output or a decision. */
export type ToolAnswer = SubmitToolOutputs["tool_outputs"][number];

/** Answers a run's call and invalidates the pages that show it. */
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
    // Another person may have answered first: refetch the run.
    onError: () => void client.invalidateQueries(runApi.of(at, runId)),
  });
}

function wordOf({ decision, is_error, arguments: edited, elicitation }: ToolAnswer): string {
  if (elicitation) return elicitation.action === "accept" ? "Answer sent" : "Question declined";
  if (decision === "reject") return "Call rejected";
  if (decision === "approve") return edited ? "Call approved with other arguments" : "Call approved";
  return is_error ? "Error sent" : "Output sent";
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Pause, StepForward, X } from "lucide-react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { runQuery } from "../../entities/run/run-api.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** Pauses a run before its next step, or lets it go on. Renders nothing for an ended run. */
export function PauseRun({ run }: { run: Run }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const isPaused = run.status === "paused";
  const isRequested = run.pause_requested_at != null;
  const change = useMutation({
    mutationFn: (act: "pause" | "resume") =>
      post<Run>(resourceUrl(at, `/runs/${encodeURIComponent(run.id)}/${act}`), {}),
    onSuccess: (changed) => client.setQueryData(runQuery(at, run.id).queryKey, changed),
    onError: (error, act) => toastFailure(`The run was not ${act}d`, error.message),
  });
  const act = () => change.mutate(isRequested ? "resume" : "pause");
  const canAct = !isOver(run.status) && !change.isPending;
  const word = isPaused ? "Resume" : isRequested ? "Cancel pause" : "Pause";
  useKeys({ z: act }, canAct, { z: isPaused || !isRequested ? `${word} run` : "Cancel pause of the run" });
  if (isOver(run.status)) return null;
  return (
    <Button
      disabled={change.isPending}
      onClick={act}
      title={isRequested ? undefined : "The call that is in progress ends first"}
    >
      {isPaused ? <StepForward {...icon} /> : isRequested ? <X {...icon} /> : <Pause {...icon} />}
      {word}
    </Button>
  );
}

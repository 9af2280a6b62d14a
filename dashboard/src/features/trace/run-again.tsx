import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { sameRun } from "../../entities/run/same-run.ts";
import { resourceUrl } from "../../lib/api.ts";
import { createPostOnce } from "../../lib/post-once.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { toast } from "../../ui/toast.ts";

/** Runs the agent once more with the same input, after saying what that does. */
export function RunAgain({
  run,
  agent,
  open,
  onOpenChange,
  onStarted,
}: {
  run: Run;
  agent: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onStarted: (runId: string) => void;
}) {
  const at = useWorkspace();
  const [postOnce] = useState(createPostOnce);
  const start = useMutation({
    mutationFn: () => postOnce<Run>(resourceUrl(at, "/runs"), sameRun(run), run.id),
    onSuccess: ({ id }) => {
      onOpenChange(false);
      toast("Run started", agent);
      onStarted(id);
    },
  });
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Run again"
      act={start.isPending ? "Starting" : "Run again"}
      keep="Close"
      kind="primary"
      busy={start.isPending}
      onConfirm={() => start.mutate()}
    >
      <p>
        {agent} runs once more with the same input, as the agent is now. Its model and its tools are called anew
        {at.mode === "live" ? ", and this is live data: what its tools do, they do again." : "."}
      </p>
      {start.error && (
        <div className="mt-3">
          <ErrorNote title="No run was started" error={start.error} />
        </div>
      )}
    </ConfirmDialog>
  );
}

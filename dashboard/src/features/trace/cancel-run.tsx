import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { runQuery } from "../../entities/run/run-api.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";

/** Cancels a run, after saying what that does. Of one that is over nothing is left of it. */
export function CancelRun({
  run,
  beside,
}: {
  run: Run;
  /** Where the focus goes once there is nothing to cancel any more. */
  beside: () => HTMLElement | undefined;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const isDone = useRef(false);
  const cancel = useMutation({
    mutationFn: () => post<Run>(resourceUrl(at, `/runs/${encodeURIComponent(run.id)}/cancel`)),
    onSuccess: (cancelled) => {
      client.setQueryData(runQuery(at, run.id).queryKey, cancelled);
      isDone.current = true;
      setOpen(false);
    },
  });
  return (
    <>
      {!isOver(run.status) && (
        <Button kind="danger-quiet" onClick={() => setOpen(true)}>
          Cancel run
        </Button>
      )}
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title="Cancel run"
        act={cancel.isPending ? "Cancelling" : "Cancel run"}
        keep="Let it run"
        busy={cancel.isPending}
        finalFocus={() => (isDone.current && beside()) || true}
        onConfirm={() => cancel.mutate()}
      >
        <p>
          The request to the model and all open tool calls stop at once. What was written so far is kept. A cancelled
          run cannot go on.
        </p>
        {cancel.error && (
          <div className="mt-3">
            <ErrorNote title="The run was not cancelled" error={cancel.error} />
          </div>
        )}
      </ConfirmDialog>
    </>
  );
}

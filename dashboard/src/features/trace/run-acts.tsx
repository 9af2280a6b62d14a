import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { runApi, runQuery, sameRun } from "../../entities/run/run-api.ts";
import { ApiError, post, remove, resourceUrl } from "../../lib/api.ts";
import { createPostOnce } from "../../lib/post-once.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { toast } from "../../ui/toast.ts";

/** Runs the agent once more with the same input, after saying what that does. */
export function RunAgain({
  run,
  agent,
  onClose,
  onStarted,
}: {
  run: Run;
  agent: string;
  onClose: () => void;
  onStarted: (runId: string) => void;
}) {
  const at = useWorkspace();
  const [postOnce] = useState(createPostOnce);
  const start = useMutation({
    mutationFn: () => postOnce<Run>(resourceUrl(at, "/runs"), sameRun(run), run.id),
    onSuccess: ({ id }) => {
      onClose();
      toast("Run started", agent);
      onStarted(id);
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Run again"
      act="Run again"
      acting="Starting"
      keep="Close"
      kind="primary"
      doing={start}
      refused="No run was started"
      onConfirm={() => start.mutate()}
    >
      <p>
        {agent} runs once more with the same input, as the agent is now. Its model and its tools are called anew
        {at.mode === "live" ? ", and this is live data: what its tools do, they do again." : "."}
      </p>
    </ConfirmDialog>
  );
}

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
        onClose={() => setOpen(false)}
        title="Cancel run"
        act="Cancel run"
        acting="Cancelling"
        keep="Let it run"
        doing={cancel}
        refused="The run was not cancelled"
        finalFocus={() => (isDone.current && beside()) || true}
        onConfirm={() => cancel.mutate()}
      >
        <p>
          The request to the model and all open tool calls stop at once. What was written so far is kept. A cancelled
          run cannot go on.
        </p>
      </ConfirmDialog>
    </>
  );
}

/** Deletes a run that is over, after saying that it is for good. */
export function DeleteRun({ run, onClose, onDeleted }: { run: Run; onClose: () => void; onDeleted: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: () => remove(resourceUrl(at, `/runs/${encodeURIComponent(run.id)}`)),
    onSuccess: () => {
      onClose();
      toast("Run deleted");
      onDeleted();
      void client.invalidateQueries(runApi.all(at));
    },
  });
  const suites = pinningSuites(act.error);
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete run"
      act="Delete run"
      acting="Deleting"
      keep="Keep it"
      doing={act}
      refused={suites.length > 0 ? undefined : "The run was not deleted"}
      onConfirm={() => act.mutate()}
    >
      <p>
        The run goes for good, with its input, its output and its trace. Forks and replays of it stay, and so does what
        its tools did.
      </p>
      {suites.length > 0 && (
        <div className="mt-3">
          <PinnedNote suiteIds={suites} />
        </div>
      )}
    </ConfirmDialog>
  );
}

/** The suites that keep a run from being deleted, of the refusal that names them. */
function pinningSuites(error: Error | null): string[] {
  const ids = error instanceof ApiError && error.code === "run_pinned" ? error.details.suite_ids : null;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

/** Says that suites have pinned a run, and leads to them. */
function PinnedNote({ suiteIds }: { suiteIds: readonly string[] }) {
  return (
    <Note tone="warn" role="alert">
      <b>The run was not deleted</b>
      <p>
        {suiteIds.length === 1 ? "A suite has" : `${suiteIds.length} suites have`} pinned it. Remove the case there
        first.
      </p>
      <ul className="mt-1 flex flex-col items-start">
        {suiteIds.map((suiteId) => (
          <li key={suiteId}>
            <Link
              to="/suites/$suiteId"
              params={{ suiteId }}
              title={suiteId}
              className="text-accent underline underline-offset-2"
            >
              Open the suite
            </Link>
          </li>
        ))}
      </ul>
    </Note>
  );
}

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { runApi, runQuery, sameRun } from "../../entities/run/run-api.ts";
import { ApiError, post, remove, resourceUrl } from "../../lib/api.ts";
import { createPostOnce } from "../../lib/post-once.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";

/** Starts the agent again with the same input after confirmation. */
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
  return (
    <ActionDialog
      title="Run again"
      act="Run again"
      acting="Starting"
      kind="primary"
      refused="No run was started"
      run={() => postOnce<Run>(resourceUrl(at, "/runs"), sameRun(run), run.id)}
      onClose={onClose}
      onDone={({ id }) => {
        toast("Run started", agent);
        onStarted(id);
      }}
    >
      <p>
        {agent} runs once more with the same input, in its current version. Its model and tools are called again
        {at.mode === "live" ? ": this is live data, and the tools take effect again." : "."}
      </p>
    </ActionDialog>
  );
}

/** Cancels a run after confirmation. Renders nothing for an ended run. */
export function CancelRun({
  run,
  beside,
}: {
  run: Run;
  /** Returns the element to focus once this disappears. */
  beside: () => HTMLElement | undefined;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const isDone = useRef(false);
  return (
    <>
      {!isOver(run.status) && (
        <Button kind="danger-quiet" onClick={() => setOpen(true)}>
          Cancel run
        </Button>
      )}
      <ActionDialog
        open={open}
        title="Cancel run"
        act="Cancel run"
        acting="Cancelling"
        keep="Keep running"
        refused="The run was not cancelled"
        run={async () => {
          const cancelled = await post<Run>(resourceUrl(at, `/runs/${encodeURIComponent(run.id)}/cancel`));
          client.setQueryData(runQuery(at, run.id).queryKey, cancelled);
          isDone.current = true;
        }}
        finalFocus={() => (isDone.current && beside()) || true}
        onClose={() => setOpen(false)}
      >
        <p>
          The model request and all open tool calls stop at once. Output written so far is kept. A cancelled run cannot
          be resumed.
        </p>
      </ActionDialog>
    </>
  );
}

/** Deletes an ended run after confirmation. */
export function DeleteRun({ run, onClose, onDeleted }: { run: Run; onClose: () => void; onDeleted: () => void }) {
  const at = useWorkspace();
  return (
    <DeleteDialog
      noun="run"
      name="run"
      told=""
      remove={() => remove(resourceUrl(at, `/runs/${encodeURIComponent(run.id)}`))}
      stale={[runApi.all(at)]}
      explain={(error) => {
        const suites = pinningSuites(error);
        return suites.length > 0 && <PinnedNote suiteIds={suites} />;
      }}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>
        The run is permanently deleted, with its input, output and trace. Forks and replays of it are kept. What its
        tools did is not undone.
      </p>
    </DeleteDialog>
  );
}

/** Ids of the suites that prevent deleting a run, from the error. */
function pinningSuites(error: Error): string[] {
  const ids = error instanceof ApiError && error.code === "run_pinned" ? error.details.suite_ids : null;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

/** Says that suites contain the run, with links to them. */
function PinnedNote({ suiteIds }: { suiteIds: readonly string[] }) {
  return (
    <Callout tone="warn" role="alert">
      <b>The run was not deleted</b>
      <p>
        It is a case of {suiteIds.length === 1 ? "a suite" : `${suiteIds.length} suites`}. Remove the case there first.
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
    </Callout>
  );
}

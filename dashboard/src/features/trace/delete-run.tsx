import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { runApi } from "../../entities/run/run-api.ts";
import { remove, resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { toast } from "../../ui/toast.ts";
import { PinnedNote, pinningSuites } from "./pinned-note.tsx";

/** Deletes a run that is over, after saying that it is for good. */
export function DeleteRun({
  run,
  open,
  onOpenChange,
  onDeleted,
}: {
  run: Run;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onDeleted: () => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: () => remove(resourceUrl(at, `/runs/${encodeURIComponent(run.id)}`)),
    onSuccess: () => {
      onOpenChange(false);
      toast("Run deleted");
      onDeleted();
      void client.invalidateQueries(runApi.all(at));
    },
  });
  const suites = pinningSuites(act.error);
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Delete run"
      act={act.isPending ? "Deleting" : "Delete run"}
      keep="Keep it"
      busy={act.isPending}
      onConfirm={() => act.mutate()}
    >
      <p>
        The run goes for good, with its input, its output and its trace. Forks and replays of it stay, and so does what
        its tools did.
      </p>
      {act.error && (
        <div className="mt-3">
          {suites.length > 0 ? (
            <PinnedNote suiteIds={suites} />
          ) : (
            <ErrorNote title="The run was not deleted" error={act.error} />
          )}
        </div>
      )}
    </ConfirmDialog>
  );
}

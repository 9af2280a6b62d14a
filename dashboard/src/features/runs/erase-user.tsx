import { useMutation, useQueryClient } from "@tanstack/react-query";
import { UserRoundX } from "lucide-react";
import { useState } from "react";
import { eraseUser } from "../../entities/user/user-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";

/** Deletes all that there is of a user, once their name was typed. */
export function EraseUser({ userId }: { userId: string }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [asks, setAsks] = useState(false);
  const erasing = useMutation({
    mutationFn: () => eraseUser(at, userId),
    onSuccess: ({ status, deleted: { runs, threads } }) => {
      const gone = `${plural(runs, "run")}, ${plural(threads, "thread")} and what was remembered`;
      toast(status === "completed" ? "User erased" : "The user is being erased", gone);
      setAsks(false);
    },
    onSettled: () => client.invalidateQueries(), // There may have been something of them everywhere.
  });
  const close = () => {
    erasing.reset();
    setAsks(false);
  };
  return (
    <>
      <Button kind="danger-quiet" onClick={() => setAsks(true)}>
        <UserRoundX aria-hidden className="size-4" strokeWidth={1.5} />
        Erase user
      </Button>
      {asks && (
        <ConfirmDialog
          title={`Erase ${userId}`}
          act="Erase user"
          acting="Erasing"
          keep="Keep the data"
          typed={userId}
          doing={erasing}
          refused="The user was not erased"
          onConfirm={() => erasing.mutate()}
          onClose={close}
        >
          All that there is of this user in {at.mode} data is deleted: runs with their traces, threads, memory, files
          and schedules. Runs that are not over are cancelled. Nothing brings it back, but a backup.
        </ConfirmDialog>
      )}
    </>
  );
}

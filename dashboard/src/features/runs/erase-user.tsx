import { UserRoundX } from "lucide-react";
import { useState } from "react";
import { eraseUser } from "../../entities/user/user-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";

/** Deletes all data of a user after their id was typed. */
export function EraseUser({ userId }: { userId: string }) {
  const at = useWorkspace();
  const [asks, setAsks] = useState(false);
  return (
    <>
      <Button kind="danger-quiet" onClick={() => setAsks(true)}>
        <UserRoundX aria-hidden className="size-4" strokeWidth={1.5} />
        Erase user
      </Button>
      {asks && (
        <ActionDialog
          title={`Erase ${userId}`}
          act="Erase user"
          acting="Erasing"
          typed={userId}
          refused="The user was not erased"
          run={() => eraseUser(at, userId)}
          stale={[{}]} // Any query may contain data of the user.
          onClose={() => setAsks(false)}
          onDone={({ status, deleted: { runs, threads } }) =>
            toast(
              status === "completed" ? "User erased" : "Erasing the user",
              `${plural(runs, "run")}, ${plural(threads, "thread")}, memory and files`,
            )
          }
        >
          All {at.mode} data of this user is deleted: runs with their traces, threads, memory, files and schedules. Runs
          in progress are cancelled. Only a backup can restore it.
        </ActionDialog>
      )}
    </>
  );
}

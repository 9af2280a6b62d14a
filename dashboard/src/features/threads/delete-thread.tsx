import type { Thread } from "../../../../server/wire/thread.ts";
import { threadApi } from "../../entities/thread/thread-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";

/** Deletes a thread with what was said in it, after saying so. */
export function DeleteThread({
  thread,
  onClose,
  onDeleted,
}: {
  thread: Thread;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const at = useWorkspace();
  return (
    <DeleteDialog
      noun="thread"
      name={thread.title || thread.id}
      told=""
      remove={() => threadApi.remove(at, thread.id)}
      gone={threadApi.of(at, thread.id)}
      stale={[threadApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>
        {thread.message_count === 0
          ? "Nothing was said in it."
          : `${plural(thread.message_count, "message")} of it ${thread.message_count === 1 ? "goes" : "go"} for good.`}{" "}
        Its runs stay, with their traces.
      </p>
      {thread.status !== "idle" && (
        <p className="mt-2">A run of it is not over: cancel that one first, or the thread stays.</p>
      )}
    </DeleteDialog>
  );
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Thread } from "../../../../server/wire/thread.ts";
import { threadApi } from "../../entities/thread/thread-api.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";

/** Asks for whose a new thread is, and opens it. */
export function CreateThread({ onClose, onCreated }: { onClose: () => void; onCreated: (threadId: string) => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [title, setTitle] = useState("");
  const [user, setUser] = useState("");
  const [session, setSession] = useState("");
  const body = {
    ...(title.trim() && { title: title.trim() }),
    ...(user.trim() && { user_id: user.trim() }),
    ...(session.trim() && { session_id: session.trim() }),
  };
  const create = useMutation({
    mutationFn: () => post<Thread>(resourceUrl(at, "/threads"), body),
    onSuccess: ({ id }) => {
      void client.invalidateQueries(threadApi.all(at));
      toast("Thread created");
      onCreated(id);
    },
  });
  const unsaved = useChanged(body) && !create.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title="Create thread"
      about="Runs in it have its user and session. Whose it is cannot be changed later."
      act={create.isPending ? "Creating" : "Create thread"}
      busy={create.isPending}
      onSubmit={() => create.mutate()}
    >
      <ErrorNote title="The thread was not created" error={create.error} />
      <Field
        label="Title (optional)"
        value={title}
        maxLength={255}
        autoComplete="off"
        onChange={(event) => setTitle(event.target.value)}
      />
      <div className="grid gap-4 rail:grid-cols-2">
        <Field
          label="User (optional)"
          hint="An id of yours."
          value={user}
          maxLength={255}
          autoComplete="off"
          onChange={(event) => setUser(event.target.value)}
        />
        <Field
          label="Session (optional)"
          hint="An id of yours."
          value={session}
          maxLength={255}
          autoComplete="off"
          onChange={(event) => setSession(event.target.value)}
        />
      </div>
      <FoldedCode name="create-thread" request={{ method: "POST", path: "/v1/threads", body }} />
    </FormDialog>
  );
}

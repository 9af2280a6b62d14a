import { useQueryClient } from "@tanstack/react-query";
import type { Thread } from "../../../../server/domain/api-types/thread.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { threadApi } from "../../entities/thread/thread-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { post } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";

const first = { title: "", user_id: "", session_id: "" };

/** Request body without empty fields. */
const bodyOf = (draft: typeof first) =>
  Object.fromEntries(Object.entries(draft).flatMap(([field, text]) => (text.trim() ? [[field, text.trim()]] : [])));

/** Creates a thread for a user or session and opens it. */
export function CreateThread({ onClose, onCreated }: { onClose: () => void; onCreated: (threadId: string) => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const form = useForm({
    first,
    send: (draft) => post<Thread>(threadApi.url(at), bodyOf(draft)),
    onSent: ({ id }) => {
      void client.invalidateQueries(threadApi.all(at));
      toast("Thread created");
      onCreated(id);
    },
  });
  const own = { hint: "Your own id.", maxLength: limits.subject_length, autoComplete: "off" };
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Create thread"
      about="Its runs have this user and session. They cannot be changed later."
      act="Create thread"
      acting="Creating"
      failed="The thread was not created"
      request={{ method: "POST", path: "/v1/threads", body: bodyOf(form.draft) }}
    >
      <Field label="Title (optional)" maxLength={limits.title_length} autoComplete="off" {...form.text("title")} />
      <div className="grid gap-4 rail:grid-cols-2">
        <Field label="User (optional)" {...own} {...form.text("user_id")} />
        <Field label="Session (optional)" {...own} {...form.text("session_id")} />
      </div>
    </FormDialog>
  );
}

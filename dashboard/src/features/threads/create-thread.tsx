import { useQueryClient } from "@tanstack/react-query";
import { limits } from "../../../../server/core/limits.ts";
import type { Thread } from "../../../../server/wire/thread.ts";
import { threadApi } from "../../entities/thread/thread-api.ts";
import { post } from "../../lib/api.ts";
import { useForm } from "../../lib/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.ts";

const first = { title: "", user_id: "", session_id: "" };

/** What was written, without what was left empty. */
const bodyOf = (draft: typeof first) =>
  Object.fromEntries(Object.entries(draft).flatMap(([field, text]) => (text.trim() ? [[field, text.trim()]] : [])));

/** Asks for whose a new thread is, and opens it. */
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

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Thread } from "../../../../server/wire/thread.ts";
import { threadApi, threadQuery } from "../../entities/thread/thread-api.ts";
import { patch } from "../../lib/api.ts";
import { jsonText, readJson } from "../../lib/json-text.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import { metadataFault } from "./metadata-fault.ts";

/** Changes a thread's title and metadata. */
export function EditThread({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [title, setTitle] = useState(thread.title ?? "");
  const [text, setText] = useState(() => jsonText(thread.metadata));
  const read = readJson(text);
  const fault = read.fault === null ? metadataFault(read.value) : null;
  const body = { title: title.trim() || null, metadata: read.value };
  const save = useMutation({
    mutationFn: () => patch<Thread>(threadApi.url(at, thread.id), body),
    onSuccess: (changed) => {
      client.setQueryData(threadQuery(at, thread.id).queryKey, changed);
      void client.invalidateQueries(threadApi.all(at));
      toast("Thread saved");
      onClose();
    },
  });
  const unsaved = useChanged([title, text]) && !save.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title="Edit thread"
      act={save.isPending ? "Saving" : "Save thread"}
      busy={save.isPending}
      onSubmit={() => read.fault === null && fault === null && save.mutate()}
    >
      <ErrorNote title="The thread was not saved" error={save.error} />
      <Field
        label="Title"
        value={title}
        maxLength={255}
        autoComplete="off"
        onChange={(event) => setTitle(event.target.value)}
      />
      <JsonField
        label="Metadata"
        hint="Up to 16 pairs of your own."
        rows={4}
        value={text}
        fault={fault}
        onText={setText}
      />
      <FoldedCode name="edit-thread" request={{ method: "PATCH", path: `/v1/threads/${thread.id}`, body }} />
    </FormDialog>
  );
}

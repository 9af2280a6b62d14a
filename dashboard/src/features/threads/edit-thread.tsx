import { useQueryClient } from "@tanstack/react-query";
import type { Thread } from "../../../../server/domain/api-types/thread.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { threadApi, threadQuery } from "../../entities/thread/thread-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { patch } from "../../lib/api.ts";
import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";
import { JsonField } from "../../ui/forms/json-field.tsx";

const bodyOf = ({ title, metadata }: { title: string; metadata: string }) => ({
  title: title.trim() || null,
  metadata: readJson(metadata).value,
});

/** Edits a thread's title and metadata. */
export function EditThread({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const form = useForm({
    first: () => ({ title: thread.title ?? "", metadata: jsonText(thread.metadata) }),
    check: ({ metadata }) => {
      const { value, fault } = readJson(metadata);
      return { metadata: fault ?? metadataFault(value) };
    },
    send: (draft) => patch<Thread>(threadApi.url(at, thread.id), bodyOf(draft)),
    onSent: (changed) => {
      client.setQueryData(threadQuery(at, thread.id).queryKey, changed);
      void client.invalidateQueries(threadApi.all(at));
      toast("Thread saved");
      onClose();
    },
  });
  const { value, fault } = readJson(form.draft.metadata);
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Edit thread"
      act="Save thread"
      acting="Saving"
      failed="The thread was not saved"
      request={{ method: "PATCH", path: `/v1/threads/${thread.id}`, body: bodyOf(form.draft) }}
    >
      <Field label="Title" maxLength={limits.title_length} autoComplete="off" {...form.text("title")} />
      <JsonField
        label="Metadata"
        hint="Up to 16 key-value pairs."
        {...form.json("metadata")}
        fault={fault === null ? metadataFault(value) : form.fieldErrors.metadata}
      />
    </FormDialog>
  );
}

const { metadata_pairs, metadata_key_length, metadata_value_length } = limits;

/** Validates a value as metadata; returns the error or null. */
export function metadataFault(value: unknown): string | null {
  if (!isJsonObject(value)) return 'Metadata is an object of strings: { "order": "4711" }.';
  const entries = Object.entries(value);
  if (entries.length > metadata_pairs) return `At most ${metadata_pairs} pairs can be kept.`;
  for (const [key, each] of entries) {
    if (typeof each !== "string") return `The value of “${key}” is not a string. Put strings in quotes.`;
    if (key.length > metadata_key_length)
      return `The key “${key.slice(0, 20)}…” is longer than ${metadata_key_length} characters.`;
    if (each.length > metadata_value_length)
      return `The value of “${key}” is longer than ${metadata_value_length} characters.`;
  }
  return null;
}

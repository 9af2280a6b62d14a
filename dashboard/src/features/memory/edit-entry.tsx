import { useQueryClient } from "@tanstack/react-query";
import type { MemoryEntry as Entry, Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { changeEntry, storeApi } from "../../entities/memory/memory-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { JsonField } from "../../ui/forms/json-field.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { readObject } from "./memory-words.ts";

/** Edits the text and metadata of an entry. A file entry has only metadata. */
export function EditEntry({ store, entry, onClose }: { store: Store; entry: Entry; onClose: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const isText = entry.text !== null;
  const first = {
    text: entry.text ?? "",
    metadata: Object.keys(entry.metadata).length > 0 ? JSON.stringify(entry.metadata, null, 2) : "",
  };
  const bodyOf = ({ text, metadata }: typeof first) => ({
    ...(isText && text !== first.text && { text }),
    ...(metadata !== first.metadata && { metadata: readObject(metadata).value ?? {} }),
  });
  const form = useForm({
    first,
    check: ({ text, metadata }) => ({
      text: isText && text.trim() === "" ? "Enter a text, or delete the entry." : null,
      metadata: readObject(metadata).fault,
    }),
    send: (draft) => changeEntry(at, store.id, entry.id, bodyOf(draft)),
    onSent: ({ status }) => {
      toast("Entry saved", status === "ready" ? "Searches find the new text" : "It is being indexed");
      void client.invalidateQueries(storeApi.all(at));
      onClose();
    },
  });
  const body = bodyOf(form.draft);
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title="Edit entry"
      about={entry.filename ?? (entry.scope_id ? `Of ${entry.scope_id}, in ${store.name}` : `In ${store.name}`)}
      act="Save entry"
      acting="Saving entry"
      ready={Object.keys(body).length > 0}
      failed="The entry was not saved"
      request={{ method: "PATCH", path: `/v1/memory/${store.id}/entries/${entry.id}`, body }}
    >
      {isText && <TextArea label="Text" rows={6} {...form.text("text")} />}
      <JsonField
        label="Metadata"
        optional
        hint="Strings, numbers and booleans. Searches can filter by them."
        {...form.json("metadata")}
      />
    </FormDialog>
  );
}

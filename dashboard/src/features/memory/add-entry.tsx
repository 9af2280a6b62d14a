import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { fileApi } from "../../entities/file/file-api.ts";
import { addEntry, storeApi } from "../../entities/memory/memory-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";
import { JsonField } from "../../ui/forms/json-field.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { readObject } from "./memory-words.ts";

const first = { kind: "text" as "text" | "file", text: "", file: "", scope_id: "", metadata: "" };

/** The form that adds a text or a file to a store. */
export function AddEntry({ store, of, onClose }: { store: Store; of?: string; onClose: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const files = useQuery(fileApi.every(at)).data?.filter(({ mime_type }) => !mime_type.startsWith("image/")) ?? [];
  const bodyOf = ({ kind, text, file, scope_id, metadata }: typeof first) => ({
    ...(kind === "text" ? { text } : { file_id: file }),
    ...(readObject(metadata).value && { metadata: readObject(metadata).value }),
    ...(store.scope !== "project" && { scope_id: scope_id.trim() }),
  });
  const form = useForm({
    first: { ...first, scope_id: of ?? "" },
    check: ({ kind, text, file, scope_id, metadata }) => ({
      text: kind === "text" && text.trim() === "" ? "Enter a text." : null,
      file: kind === "file" && file === "" ? "Choose a file." : null,
      scope_id: store.scope !== "project" && scope_id.trim() === "" ? `Enter the ${store.scope} id.` : null,
      metadata: readObject(metadata).fault,
    }),
    send: (draft) => addEntry(at, store.id, bodyOf(draft)),
    onSent: (entry) => {
      toast("Entry added", entry.status === "ready" ? "It is searchable now" : "It is being indexed");
      void client.invalidateQueries(storeApi.all(at));
      onClose();
    },
  });
  const { draft, fieldErrors, text } = form;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title="Add entry"
      about={`To ${store.name}`}
      act="Add entry"
      acting="Adding entry"
      failed="The entry was not added"
      request={{ method: "POST", path: `/v1/memory/${store.id}/entries`, body: bodyOf(draft) }}
    >
      <div className="max-w-60">
        <SegmentedControl
          name="entry kind"
          label="Type of entry"
          choices={[
            { value: "text", label: "Text" },
            { value: "file", label: "File" },
          ]}
          {...form.choose("kind")}
        />
      </div>
      {draft.kind === "text" ? (
        <TextArea label="Text" rows={6} {...text("text")} />
      ) : (
        <Select
          label="File"
          choices={[
            { value: "", label: files.length === 0 ? "No files yet" : "Choose a file" },
            ...files.map(({ id, filename }) => ({ value: id, label: filename })),
          ]}
          hint={fieldErrors.file || "Documents and texts. A file is added once."}
          {...form.pick("file")}
        />
      )}
      {store.scope !== "project" && (
        <Field label={store.scope === "user" ? "User" : "Session"} autoComplete="off" {...text("scope_id")} />
      )}
      <JsonField
        label="Metadata"
        optional
        placeholder='{"year": 2026, "lang": "en"}'
        hint="Strings, numbers and booleans. Searches can filter by them."
        {...form.json("metadata")}
      />
    </FormDialog>
  );
}

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Memory as Store } from "../../../../server/wire/memory.ts";
import { fileApi } from "../../entities/file/file-api.ts";
import { addEntry, storeApi } from "../../entities/memory/memory-api.ts";
import { ApiError } from "../../lib/api.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ChoiceBar } from "../../ui/choice-bar.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { Select } from "../../ui/select.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { toast } from "../../ui/toast.ts";
import { readObject } from "./memory-words.ts";

/** Puts a text or a file into a store. */
export function AddEntry({ store, of, onClose }: { store: Store; of?: string; onClose: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const files = useQuery(fileApi.every(at)).data?.filter(({ mime_type }) => !mime_type.startsWith("image/")) ?? [];
  const [kind, setKind] = useState<"text" | "file">("text");
  const [text, setText] = useState("");
  const [file, setFile] = useState("");
  const [scope, setScope] = useState(of ?? "");
  const [metadata, setMetadata] = useState("");
  const [tried, setTried] = useState(false);
  const read = readObject(metadata);
  const missing = {
    text: kind === "text" && text.trim() === "" ? "Write what is to be found." : null,
    file: kind === "file" && file === "" ? "Choose a file." : null,
    scope: store.scope !== "project" && scope.trim() === "" ? `Say whose it is: the ${store.scope}.` : null,
  };
  const body = {
    ...(kind === "text" ? { text } : { file_id: file }),
    ...(read.value && { metadata: read.value }),
    ...(store.scope !== "project" && { scope_id: scope.trim() }),
  };
  const adding = useMutation({
    mutationFn: () => addEntry(at, store.id, body),
    onSuccess: (entry) => {
      toast("Entry added", entry.status === "ready" ? "It can be found now" : "It is being made searchable");
      void client.invalidateQueries(storeApi.all(at));
      onClose();
    },
  });
  const faults = adding.error instanceof ApiError ? adding.error.faults : [];
  const submit = () => {
    setTried(true);
    if (!read.fault && Object.values(missing).every((each) => each === null)) adding.mutate();
  };
  const unsaved = useChanged([kind, text, file, scope, metadata]) && !adding.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      wide
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title="Add entry"
      about={`To ${store.name}`}
      act={adding.isPending ? "Adding entry" : "Add entry"}
      busy={adding.isPending}
      onSubmit={submit}
    >
      <div className="max-w-60">
        <ChoiceBar
          name="entry kind"
          label="What is added"
          choices={[
            { value: "text", label: "Text" },
            { value: "file", label: "File" },
          ]}
          chosen={kind}
          onChoose={setKind}
        />
      </div>
      {kind === "text" ? (
        <TextArea
          label="Text"
          rows={6}
          value={text}
          error={tried ? missing.text : null}
          onChange={(event) => setText(event.target.value)}
        />
      ) : (
        <Select
          label="File"
          value={file}
          choices={[
            { value: "", label: files.length === 0 ? "No files yet" : "Choose a file" },
            ...files.map(({ id, filename }) => ({ value: id, label: filename })),
          ]}
          hint={(tried && missing.file) || "Documents and texts. The same file is one entry."}
          onChoose={setFile}
        />
      )}
      {store.scope !== "project" && (
        <Field
          label={store.scope === "user" ? "User" : "Session"}
          value={scope}
          error={tried ? missing.scope : null}
          autoComplete="off"
          onChange={(event) => setScope(event.target.value)}
        />
      )}
      <JsonField
        label="Metadata"
        optional
        rows={2}
        placeholder='{"year": 2026, "lang": "en"}'
        hint="Texts, numbers and truth values. Searches filter by them."
        value={metadata}
        fault={
          (tried ? read.fault : null) ?? faults.find(({ param }) => param?.startsWith("metadata"))?.message ?? null
        }
        onText={setMetadata}
      />
      {adding.error && !faults.some(({ param }) => param?.startsWith("metadata")) && (
        <ErrorNote title="The entry was not added" error={adding.error} />
      )}
      <FoldedCode name="entry" request={{ method: "POST", path: `/v1/memory/${store.id}/entries`, body }} />
    </FormDialog>
  );
}

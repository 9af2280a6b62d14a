import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import type { UploadFields } from "../../entities/file/upload.ts";
import { storeApi } from "../../entities/memory/memory-api.ts";
import { formatBytes } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Dropzone } from "../../ui/forms/dropzone.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { localFault } from "./file-words.ts";

const purposes = [
  { value: "retrieval", label: "For search", hint: "Its text is indexed, and memory stores can find passages of it." },
  { value: "attachment", label: "For runs", hint: "Runs receive it with their input. Text and images are supported." },
  { value: "code_interpreter", label: "For code", hint: "Code tools can open it. It is stored unchanged." },
] as const;

const lifetimes = [
  { value: "", label: "Never" },
  { value: "86400", label: "In a day" },
  { value: "604800", label: "In 7 days" },
  { value: "2592000", label: "In 30 days" },
  { value: "31536000", label: "In a year" },
];

const hiddenTexts = [
  { value: "", label: "Left out" },
  { value: "included", label: "Included" },
];

/** Asks for files, their purpose, memory store and expiry before the upload. */
export function UploadDialog({
  given: initialFiles,
  onClose,
  onUpload,
}: {
  /** Files dropped on the page. */
  given: readonly File[];
  onClose: () => void;
  onUpload: (files: readonly File[], fields: UploadFields) => void;
}) {
  const at = useWorkspace();
  const stores = useQuery(storeApi.every(at)).data?.filter(({ kind }) => kind === "vector") ?? [];
  const [files, setFiles] = useState<readonly File[]>(initialFiles);
  const [purpose, setPurpose] = useState<UploadFields["purpose"]>("retrieval");
  const [store, setStore] = useState("");
  const [scope, setScope] = useState("");
  const [lifetime, setLifetime] = useState("");
  const [encoding, setEncoding] = useState("");
  const [hidden, setHidden] = useState("");
  const [wasSubmitted, setTried] = useState(false);
  const chosen = purpose === "retrieval" ? stores.find(({ id }) => id === store) : undefined;
  const needsScope = chosen !== undefined && chosen.scope !== "project";
  const fields: UploadFields = {
    purpose,
    ...(chosen && { memory_id: chosen.id }),
    ...(needsScope && { scope_id: scope.trim() }),
    ...(purpose !== "code_interpreter" && encoding.trim() && { encoding: encoding.trim() }),
    ...(purpose !== "code_interpreter" && hidden && { include_hidden: true }),
    ...(lifetime && { expires_in_seconds: Number(lifetime) }),
  };
  const scopeFault = needsScope && scope.trim() === "" ? `Enter the ${chosen.scope} id.` : null;
  const submit = () => {
    setTried(true);
    if (files.length === 0 || scopeFault) return false;
    onUpload(files, fields);
    onClose();
    return true;
  };
  return (
    <FormDialog
      form={{ submit, isUnsaved: files.length > 0 || scope !== "" }}
      onClose={onClose}
      wide
      title="Upload files"
      about="Up to 100 MB each."
      act={files.length > 1 ? `Upload ${files.length} files` : "Upload file"}
      request={{ method: "POST", path: "/v1/files", body: { filename: "notes.txt", text: "…", ...fields } }}
    >
      <FilesField files={files} missing={wasSubmitted && files.length === 0} onFiles={setFiles} />
      <RadioCards label="Purpose" choices={purposes} chosen={purpose} onChoose={setPurpose} />
      {purpose === "retrieval" && stores.length > 0 && (
        <div className="grid gap-4 rail:grid-cols-2">
          <Select
            label="Memory store"
            value={store}
            choices={[
              { value: "", label: "None yet" },
              ...stores.map(({ id, name, scope: of }) => ({
                value: id,
                label: of === "project" ? name : `${name} (${of})`,
              })),
            ]}
            onChoose={setStore}
          />
          {needsScope && (
            <Field
              label={chosen.scope === "user" ? "User" : "Session"}
              value={scope}
              error={wasSubmitted ? scopeFault : null}
              autoComplete="off"
              onChange={(event) => setScope(event.target.value)}
            />
          )}
        </div>
      )}
      <div className="grid gap-4 rail:grid-cols-3">
        <Select label="Expires" value={lifetime} choices={lifetimes} onChoose={setLifetime} />
        {purpose !== "code_interpreter" && (
          <>
            <Select label="Hidden text" value={hidden} choices={hiddenTexts} onChoose={setHidden} />
            <Field
              label="Encoding"
              value={encoding}
              placeholder="Detected"
              autoComplete="off"
              onChange={(event) => setEncoding(event.target.value)}
            />
          </>
        )}
      </div>
    </FormDialog>
  );
}

function FilesField({
  files,
  missing,
  onFiles,
}: {
  files: readonly File[];
  missing: boolean;
  onFiles: (files: readonly File[]) => void;
}) {
  return (
    <div className="flex flex-col gap-2">
      <Dropzone
        label="Files"
        text="Drop files here, or"
        act="Choose files"
        error={missing ? "Choose at least one file." : null}
        multiple
        onFiles={(more) => onFiles([...files, ...more])}
      />
      {files.length > 0 && (
        <ul aria-label="Chosen files" className="max-h-40 overflow-y-auto">
          {files.map((file, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be selected twice.
            <li key={i} className="flex min-h-8 items-center gap-2 text-xs">
              <span className="min-w-0 flex-1">
                <span className="cut block font-medium">{file.name}</span>
                {localFault(file) && <span className="block text-bad wrap-anywhere">{localFault(file)}</span>}
              </span>
              <span className="shrink-0 text-muted tabular-nums">{formatBytes(file.size)}</span>
              <Button
                kind="ghost"
                size="icon-sm"
                aria-label={`Remove ${file.name}`}
                onClick={() => onFiles(files.filter((_, at) => at !== i))}
              >
                <X aria-hidden className="size-4" strokeWidth={1.5} />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

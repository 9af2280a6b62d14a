import { importLimits } from "../../../../../server/domain/openapi-import.ts";
import type { ImportTools, ToolImport } from "../../../../../server/resources/tools/import/schema.ts";
import { importTools } from "../../../entities/tool/tool-api.ts";
import { useForm } from "../../../hooks/use-form.ts";
import { serverFieldErrors } from "../../../lib/field-errors.ts";
import { formatBytes } from "../../../lib/format.ts";
import { useWorkspace } from "../../../lib/workspace.ts";
import { FormDialog } from "../../../ui/dialogs/form-dialog.tsx";
import { Dropzone } from "../../../ui/forms/dropzone.tsx";
import { Field } from "../../../ui/forms/field.tsx";
import { SegmentedControl } from "../../../ui/forms/segmented-control.tsx";
import { TextArea } from "../../../ui/forms/text-area.tsx";

/** Where the document is. Values of the other kinds stay when another one is chosen. */
export interface DocumentDraft {
  kind: "url" | "file" | "document";
  url: string;
  /** Pasted text. */
  document: string;
  file: File | null;
  /** Makes a chosen file count as a change. */
  fileName: string;
}

export const firstDocument: DocumentDraft = { kind: "url", url: "", document: "", file: null, fileName: "" };

const kinds = [
  { value: "url", label: "Address" },
  { value: "file", label: "File" },
  { value: "document", label: "Text" },
] as const;

/** Asks for a document and reads it. An error leaves everything as it was entered. */
export function DocumentDialog({
  first,
  hasPlan,
  onRead,
  onClose,
}: {
  first: DocumentDraft;
  /** True if a document was read already, whose choices closing would discard. */
  hasPlan: boolean;
  onRead: (draft: DocumentDraft, plan: ToolImport, source: ImportTools) => void;
  onClose: () => void;
}) {
  const at = useWorkspace();
  const form = useForm<DocumentDraft, { plan: ToolImport; source: ImportTools }>({
    first,
    check: ({ kind, url, document, file }) => ({
      url: kind === "url" ? urlFault(url.trim()) : null,
      file: kind === "file" ? fileFault(file) : null,
      document: kind === "document" && document.trim() === "" ? "Paste a document." : null,
    }),
    blame: (error, draft) => serverFieldErrors(error, draft, () => draft.kind),
    send: async (draft) => {
      const source = await sourceOf(draft);
      return { source, plan: await importTools(at, { ...source, dry_run: true }) };
    },
    onSent: ({ plan, source }, draft) => onRead(draft, plan, source),
  });
  const { kind, file } = form.draft;
  return (
    <FormDialog
      // Reading stores nothing, so that closing asks during it as well.
      form={{ ...form, isUnsaved: form.isChanged || hasPlan }}
      onClose={onClose}
      title="Import an API"
      about="Operations of an OpenAPI document become tools. You see what they become before anything is stored."
      act="Read document"
      acting="Reading document"
      failed="The document was not read"
    >
      <SegmentedControl
        name="document-source"
        label="Where the document is"
        choices={kinds}
        chosen={kind}
        onChoose={(next) => form.set({ kind: next })}
      />
      {kind === "url" && (
        <Field
          label="Address of the document"
          placeholder="https://api.example.com/openapi.json"
          hint="JSON or YAML: OpenAPI 3.0 or 3.1, or Swagger 2.0. The server fetches it."
          type="url"
          autoComplete="off"
          spellCheck={false}
          {...form.text("url")}
        />
      )}
      {kind === "file" && (
        <Dropzone
          label="OpenAPI document"
          text={file ? `${file.name}, ${formatBytes(file.size)}` : "Drop a JSON or YAML file here, or choose one."}
          act={file ? "Choose another file" : "Choose file"}
          error={form.fieldErrors.file}
          onFiles={([next]) => next && form.set({ file: next, fileName: `${next.name} ${next.lastModified}` })}
        />
      )}
      {kind === "document" && (
        <TextArea label="Document" hint="JSON or YAML." mono placeholder="openapi: 3.1.0" {...form.text("document")} />
      )}
    </FormDialog>
  );
}

function urlFault(url: string): string | null {
  if (url === "") return "Enter an address.";
  return /^https?:\/\/./i.test(url) && URL.canParse(url)
    ? null
    : "Must be an address such as https://api.example.com/openapi.json.";
}

function fileFault(file: File | null): string | null {
  if (!file) return "Choose a file.";
  if (file.size === 0) return `${file.name} is empty.`;
  return file.size > importLimits.document_bytes
    ? `${file.name} has ${formatBytes(file.size)}. A document may have ${formatBytes(importLimits.document_bytes)}.`
    : null;
}

async function sourceOf({ kind, url, document, file }: DocumentDraft): Promise<ImportTools> {
  if (kind === "url") return { url: url.trim() };
  return { document: kind === "file" && file ? await textOf(file) : document };
}

/** Throws if the file changed since it was chosen, or is no text. */
async function textOf(file: File): Promise<string> {
  const bytes = await file.arrayBuffer().catch(() => {
    throw new Error(`${file.name} cannot be read any more. It was changed or moved: choose it again.`);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${file.name} is not a text in UTF-8.`);
  }
}

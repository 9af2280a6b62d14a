import { FileText, LoaderCircle, Paperclip, Volume2, X } from "lucide-react";
import { useRef } from "react";
import { contentUrl } from "../../entities/file/file-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/forms/button.tsx";
import type { Attachment, Attachments } from "./use-attachments.ts";

/** Files of the next message, above its text. */
export function AttachmentList({ all, remove }: Pick<Attachments, "all" | "remove">) {
  if (all.length === 0) return null;
  return (
    <ul aria-label="Files of the message" className="flex min-w-0 flex-wrap gap-2 px-3 pt-3">
      {all.map((one) => (
        <li
          key={one.key}
          className="flex max-w-full min-w-0 items-center gap-2 rounded-md border border-line bg-subtle py-1 pr-1 pl-2 text-xs"
        >
          <Preview attachment={one} />
          <span className="min-w-0">
            <span className="cut block font-medium">{one.filename}</span>
            {one.error && <span className="block text-bad wrap-anywhere">{one.error}</span>}
          </span>
          <Button kind="ghost" size="icon-sm" aria-label={`Remove ${one.filename}`} onClick={() => remove(one.key)}>
            <X aria-hidden className="size-3.5" strokeWidth={1.5} />
          </Button>
        </li>
      ))}
    </ul>
  );
}

function Preview({ attachment: { type, file_id, error } }: { attachment: Attachment }) {
  const at = useWorkspace();
  const small = { "aria-hidden": true, className: "size-3.5 shrink-0 text-muted", strokeWidth: 1.5 } as const;
  if (file_id === null && !error) return <LoaderCircle {...small} className={`${small.className} animate-spin`} />;
  if (type === "image" && file_id)
    return <img src={contentUrl(at, file_id)} alt="" className="size-8 shrink-0 rounded-sm object-cover" />;
  return type === "audio" ? <Volume2 {...small} /> : <FileText {...small} />;
}

const attachWords = "Add images, PDFs or recordings";

/** Button that opens the file dialog. */
export function AttachButton({ disabled, onFiles }: { disabled: boolean; onFiles: (files: readonly File[]) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = ""; // The same file may be added again.
        }}
      />
      <Button
        kind="ghost"
        size="icon-sm"
        disabled={disabled}
        title={attachWords}
        aria-label={attachWords}
        onClick={() => picker.current?.click()}
      >
        <Paperclip aria-hidden className="size-4" strokeWidth={1.5} />
      </Button>
    </>
  );
}

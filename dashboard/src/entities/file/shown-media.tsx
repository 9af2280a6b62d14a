import { FileText, ImageOff, Volume2 } from "lucide-react";
import { useState } from "react";
import { downloadUrl } from "../../lib/download.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/forms/button.tsx";
import { contentUrl } from "./file-api.ts";

/** A file of a message or a result. */
export interface ShownFile {
  file_id: string;
  filename?: string | undefined;
}

/** Images, recordings and documents of a message or a result. */
export interface ShownLists {
  images?: readonly ShownFile[] | undefined;
  audio?: readonly ShownFile[] | undefined;
  files?: readonly ShownFile[] | undefined;
}

/** Shows pictures as such, and other files as buttons that download them. Renders nothing without any. */
export function ShownMedia({ images = [], audio = [], files = [] }: ShownLists) {
  if (images.length + audio.length + files.length === 0) return null;
  return (
    <div className="flex min-w-0 flex-wrap items-start gap-2">
      {images.map((image) => (
        <Picture key={image.file_id} {...image} />
      ))}
      {audio.map((recording) => (
        <FileButton key={recording.file_id} {...recording} icon={Volume2} />
      ))}
      {files.map((file) => (
        <FileButton key={file.file_id} {...file} icon={FileText} />
      ))}
    </div>
  );
}

/** A picture, which opens in its own tab. The type that the server gives is that of its bytes. */
function Picture({ file_id, filename }: ShownFile) {
  const url = contentUrl(useWorkspace(), file_id);
  const [isMissing, setIsMissing] = useState(false);
  if (isMissing)
    return (
      <span className="inline-flex items-center gap-1.5 rounded-md border border-line px-2 py-1 text-xs text-muted">
        <ImageOff aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />
        <code className="wrap-anywhere">{file_id}</code> was deleted
      </span>
    );
  return (
    <a href={url} target="_blank" rel="noreferrer" className="rounded-md" title={filename ?? file_id}>
      <img
        src={url}
        alt={filename ?? `Image ${file_id}`}
        loading="lazy"
        className="max-h-40 max-w-full rounded-md border border-line bg-subtle object-contain"
        onError={() => setIsMissing(true)}
      />
    </a>
  );
}

function FileButton({ file_id, filename = file_id, icon: Icon }: ShownFile & { icon: typeof FileText }) {
  const at = useWorkspace();
  return (
    <Button
      size="sm"
      className="max-w-full min-w-0 shrink!"
      title={`Download ${filename}`}
      onClick={() => downloadUrl(contentUrl(at, file_id), filename)}
    >
      <Icon aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />
      <span className="cut">{filename}</span>
    </Button>
  );
}

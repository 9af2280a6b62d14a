import { FileUp, X } from "lucide-react";
import { ApiError } from "../../lib/api.ts";
import { formatBytes } from "../../lib/format.ts";
import { WireLine } from "../../ui/feedback/error-note.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { localFault } from "./file-words.ts";
import type { Upload } from "./use-uploads.ts";

/** Uploads that are queued, in progress or failed. */
export function UploadList({
  uploads,
  onAgain,
  onCancel,
}: {
  uploads: readonly Upload[];
  onAgain: (key: number) => void;
  onCancel: (key: number) => void;
}) {
  if (uploads.length === 0) return null;
  return (
    <ul aria-label="Uploads" className="max-h-60 shrink-0 overflow-y-auto border-b border-line bg-subtle">
      {uploads.map(({ key, file, sent, state, error }) => (
        <li key={key} className="flex items-start gap-2.5 px-4 py-2 rail:px-5">
          <FileUp aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" strokeWidth={1.5} />
          <div className="min-w-0 flex-1">
            <div className="flex gap-3">
              <span className="cut font-medium" title={file.name}>
                {file.name}
              </span>
              <span className="ml-auto shrink-0 text-xs text-muted tabular-nums">
                {state === "waiting" && "Queued"}
                {state === "sending" && `${formatBytes(sent)} of ${formatBytes(file.size)}`}
              </span>
            </div>
            {state === "sending" && (
              <Progress label={`Upload of ${file.name}`} share={file.size ? sent / file.size : null} />
            )}
            {error && (
              <div role="alert" className="text-xs text-bad wrap-anywhere">
                {error.message}
                {error instanceof ApiError && <WireLine code={error.code} requestId={error.requestId} />}
              </div>
            )}
          </div>
          {state === "failed" && !localFault(file) && (
            <Button size="sm" onClick={() => onAgain(key)}>
              Try again
            </Button>
          )}
          <Button
            kind="ghost"
            size="icon-sm"
            aria-label={state === "failed" ? `Dismiss ${file.name}` : `Cancel the upload of ${file.name}`}
            onClick={() => onCancel(key)}
          >
            <X aria-hidden className="size-4" strokeWidth={1.5} />
          </Button>
        </li>
      ))}
    </ul>
  );
}

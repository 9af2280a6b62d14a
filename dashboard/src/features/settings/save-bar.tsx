import { Check } from "lucide-react";
import { ApiError } from "../../lib/api.ts";
import { useUnsaved } from "../../lib/use-unsaved.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";

interface SaveBarProps {
  /** “Save limits”. */
  act: string;
  dirty: boolean;
  saving: boolean;
  saved: boolean;
  /** What went wrong, unless a field says it already. */
  error: Error | null;
  onDiscard: () => void;
}

/** The end of a form: save, discard, and how it went. What is not saved is not left unasked. */
export function SaveBar({ act, dirty, saving, saved, error, onDiscard }: SaveBarProps) {
  useUnsaved(dirty && !saving);
  return (
    <div className="flex flex-col gap-3">
      {error && <ErrorNote title={isSilent(error) ? "Not known whether it was saved" : "Not saved"} error={error} />}
      <div className="flex min-h-(--control) flex-wrap items-center gap-2">
        <Button type="submit" kind="primary" disabled={!dirty || saving}>
          {saving ? "Saving" : act}
        </Button>
        {dirty && !saving && (
          <Button kind="ghost" onClick={onDiscard}>
            Discard
          </Button>
        )}
        <span role="status" className="flex items-center gap-1.5 text-xs text-ok">
          {saved && !dirty && (
            <>
              <Check aria-hidden className="size-4" strokeWidth={1.5} />
              Saved
            </>
          )}
        </span>
      </div>
    </div>
  );
}

/** The request may have arrived though its answer did not. */
function isSilent(error: Error): boolean {
  return error instanceof ApiError && error.code === "unreachable";
}

import { ApiError } from "../lib/api.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Note } from "./note.tsx";
import { SignInElsewhere } from "./sign-in-elsewhere.tsx";

/** What went wrong with a request, its wire code and request id to copy, and the way to try again; nothing without it. */
export function ErrorNote({
  title,
  error,
  inset = false,
  onRetry,
}: {
  title: string;
  error: Error | null | undefined;
  /** On a sheet, away from its edges. */
  inset?: boolean;
  onRetry?: () => void;
}) {
  if (!error) return null;
  const note = (
    <Note tone="bad" role="alert">
      <b>{title}</b>
      <p>{error.message}</p>
      {error instanceof ApiError && <WireLine code={error.code} requestId={error.requestId} />}
      {error instanceof ApiError && error.code === "missing_session" && <SignInElsewhere />}
      {onRetry && (
        <Button size="sm" className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Note>
  );
  return inset ? <div className="px-4 pt-3 rail:px-5">{note}</div> : note;
}

/** The wire `code` and `request_id` of an error, copyable together. */
export function WireLine({ code, requestId }: { code: string; requestId?: string | null }) {
  const text = requestId ? `${code} ${requestId}` : code;
  return (
    <div className="mt-1 flex items-center gap-1 text-muted">
      <code className="wrap-anywhere">{text}</code>
      <CopyButton text={text} what="error code" />
    </div>
  );
}

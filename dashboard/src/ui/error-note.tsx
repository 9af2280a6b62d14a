import { ApiError } from "../lib/api.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Note } from "./note.tsx";
import { SignInElsewhere } from "./sign-in-elsewhere.tsx";

/** What went wrong with a request, its wire code and request id to copy, and the way to try again. */
export function ErrorNote({ title, error, onRetry }: { title: string; error: Error; onRetry?: () => void }) {
  return (
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

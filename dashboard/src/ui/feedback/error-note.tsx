import { ApiError } from "../../lib/api.ts";
import { CopyButton } from "../data/copy-button.tsx";
import { SignInElsewhere } from "../dialogs/sign-in-elsewhere.tsx";
import { Button } from "../forms/button.tsx";
import { Callout } from "./callout.tsx";

/** Error of a request with its code and request id to copy, and a retry button; renders nothing without an error. */
export function ErrorNote({
  title,
  error,
  inset = false,
  onRetry,
}: {
  title: string;
  error: Error | null | undefined;
  /** With a distance from the page's edges. */
  inset?: boolean;
  onRetry?: () => void;
}) {
  if (!error) return null;
  const note = (
    <Callout tone="bad" role="alert">
      <b>{title}</b>
      <p className="whitespace-pre-line wrap-anywhere">{error.message}</p>
      {error instanceof ApiError && <WireLine code={error.code} requestId={error.requestId} />}
      {error instanceof ApiError && error.code === "missing_session" && <SignInElsewhere />}
      {onRetry && (
        <Button size="sm" className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Callout>
  );
  return inset ? <div className="px-4 pt-3 rail:px-5">{note}</div> : note;
}

/** The `code` and `request_id` of an error, copied together. */
export function WireLine({ code, requestId }: { code: string; requestId?: string | null }) {
  const text = requestId ? `${code} ${requestId}` : code;
  return (
    <div className="mt-1 flex items-center gap-1 text-muted">
      <code className="wrap-anywhere">{text}</code>
      <CopyButton text={text} what="error code" />
    </div>
  );
}

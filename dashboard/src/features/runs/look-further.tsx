import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { formatCount, plural } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Time } from "../../ui/time.tsx";

/** How far back a text was sought, and the way further. */
export function LookFurther({
  text,
  found,
  looked,
  hasMore,
  isLooking,
  error,
  onLook,
}: {
  text: string;
  found: number;
  /** All that were looked at, the oldest last. */
  looked: readonly Run[];
  hasMore: boolean;
  isLooking: boolean;
  error: Error | null;
  onLook: () => void;
}) {
  const oldest = looked.at(-1);
  return (
    <div className="flex flex-col gap-3 px-4 py-4 rail:px-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-muted">
        <p role="status" className="min-w-0 wrap-anywhere">
          {formatCount(found)} of {plural(looked.length, "run")} {hasMore ? "searched so far " : ""}
          {found === 1 ? "has" : "have"} “{text}”
          {oldest && hasMore && (
            <>
              , back to <Time at={oldest.created_at} />
            </>
          )}
          {hasMore ? "." : ": these are all."}
        </p>
        {hasMore && (
          <Button size="sm" disabled={isLooking} onClick={onLook}>
            {isLooking ? "Searching" : "Search older runs"}
          </Button>
        )}
      </div>
      <ErrorNote title="Older runs cannot be searched" error={error} onRetry={onLook} />
    </div>
  );
}

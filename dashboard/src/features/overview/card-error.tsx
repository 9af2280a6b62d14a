import { ErrorNote } from "../../ui/error-note.tsx";

/** Why a card of the overview does not show what it should; `isShown`: it shows what was read before. */
export function CardError({
  what,
  isShown,
  error,
  onRetry,
}: {
  /** “The failures”. */
  what: string;
  isShown: boolean;
  error: Error;
  onRetry: () => void;
}) {
  const words = isShown ? "may be out of date" : "cannot be shown";
  return (
    <div className="px-4 py-3">
      <ErrorNote title={`${what} ${words}`} error={error} onRetry={onRetry} />
    </div>
  );
}

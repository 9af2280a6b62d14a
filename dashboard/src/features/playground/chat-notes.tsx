import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";

/** What to know before the next input, above where it is written. */
export function ChatNotes({
  hasTurns,
  unsaved,
  isForgetful,
  error,
}: {
  hasTurns: boolean;
  /** Names of what runs here do not have yet. */
  unsaved: readonly string[];
  /** The model does not read what was said before. */
  isForgetful: boolean;
  /** Why a run was not stopped. */
  error: Error | null;
}) {
  const { mode } = useWorkspace();
  return (
    <div className="mx-auto flex w-full max-w-(--pg-read) flex-col gap-2 empty:hidden">
      {error && <ErrorNote title="The run was not stopped" error={error} />}
      {unsaved.length > 0 && <Note tone="warn">Not in runs yet: {unsaved.join(", ")}. Save the agent to try it.</Note>}
      {mode === "live" && hasTurns && (
        <p className="text-xs text-muted">Live data: tools are called and models cost money.</p>
      )}
      {isForgetful && (
        <p className="text-xs text-muted">
          The model does not read what was said before. “Reads the conversation so far” in Settings changes that.
        </p>
      )}
    </div>
  );
}

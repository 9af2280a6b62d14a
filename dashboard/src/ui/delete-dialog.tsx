import { type FormEvent, type ReactNode, useState } from "react";
import { ConfirmDialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./field.tsx";

/** Asks before something is deleted, and names the effect. With `typed`, its name has to be written first. */
export function DeleteDialog({
  noun,
  name,
  typed = false,
  busy,
  error,
  children,
  onClose,
  onDelete,
}: {
  /** “agent”. */
  noun: string;
  name: string;
  /** For what breaks others in live. */
  typed?: boolean;
  busy: boolean;
  error: Error | null;
  /** The effect. */
  children: ReactNode;
  onClose: () => void;
  onDelete: () => void;
}) {
  const [text, setText] = useState("");
  const sure = !busy && (!typed || text.trim() === name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (sure) onDelete();
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={`Delete ${name}`}
      act={busy ? "Deleting" : `Delete ${noun}`}
      keep="Keep it"
      busy={!sure}
      onConfirm={onDelete}
    >
      <form onSubmit={submit} className="flex flex-col gap-4 wrap-anywhere">
        <div>{children}</div>
        {typed && (
          <Field
            label={`Type ${name} to go on`}
            value={text}
            onChange={(event) => setText(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        {error && <ErrorNote title={`The ${noun} was not deleted`} error={error} />}
      </form>
    </ConfirmDialog>
  );
}

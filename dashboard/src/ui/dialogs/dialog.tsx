import { AlertDialog as Base } from "@base-ui/react/alert-dialog";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { ErrorNote } from "../feedback/error-note.tsx";
import { buttonClass } from "../forms/button.tsx";
import { Field } from "../forms/field.tsx";
import { DialogFoot, DialogShell } from "./dialog-shell.tsx";

/** Confirms an action, names its effects and shows its error. Cancel has the focus. */
export function ConfirmDialog({
  open = true,
  title,
  children,
  act,
  acting = act,
  keep = "Cancel",
  kind = "danger",
  typed,
  busy = false,
  doing,
  refused,
  finalFocus,
  onConfirm,
  onClose,
}: {
  open?: boolean;
  title: string;
  children: ReactNode;
  act: string;
  /** Label while it is in progress. */
  acting?: string;
  /** Label of the cancel button. */
  keep?: string;
  /** `danger` for actions that cannot be undone. */
  kind?: "danger" | "primary";
  /** Name that must be typed first. */
  typed?: string;
  /** True if it cannot be confirmed yet. */
  busy?: boolean;
  /** State of the action. */
  doing?: { isPending: boolean; error: Error | null };
  /** Title of the error: “The run was not cancelled”. */
  refused?: string;
  /** Element focused after closing, if the opener disappears. */
  finalFocus?: () => HTMLElement | true;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const safe = useRef<HTMLButtonElement>(null);
  const [text, setText] = useState("");
  const isPending = doing?.isPending ?? false;
  const sure = !busy && !isPending && (!typed || text.trim() === typed.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // React events of a dialog bubble to the form that contains it in the React tree.
    event.stopPropagation();
    if (sure) onConfirm();
  };
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <DialogShell initialFocus={safe} finalFocus={finalFocus}>
        <form onSubmit={submit} className="flex min-h-0 flex-col">
          <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">{title}</Base.Title>
          <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5 pt-2 pb-5 text-md wrap-anywhere">
            <div>{children}</div>
            {typed && (
              <Field
                label={`Type ${typed} to continue`}
                value={text}
                onChange={(event) => setText(event.target.value)}
                autoComplete="off"
                spellCheck={false}
              />
            )}
            {refused && <ErrorNote title={refused} error={doing?.error} />}
          </div>
          <DialogFoot>
            <Base.Close ref={safe} className={buttonClass()}>
              {keep}
            </Base.Close>
            <button type="submit" className={buttonClass({ kind })} disabled={!sure}>
              {isPending ? acting : act}
            </button>
          </DialogFoot>
        </form>
      </DialogShell>
    </Base.Root>
  );
}

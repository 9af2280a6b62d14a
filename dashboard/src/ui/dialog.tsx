import { AlertDialog as Base } from "@base-ui/react/alert-dialog";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { buttonClass } from "./button.tsx";
import { DialogFoot, DialogShell } from "./dialog-shell.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./field.tsx";

/** Asks before an act. Names it and its effect, and says why it was refused; the focus is on the way back. */
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
  /** The same while it is being done. */
  acting?: string;
  /** The way back. */
  keep?: string;
  /** What cannot be undone is `danger`. */
  kind?: "danger" | "primary";
  /** A name that has to be written first. */
  typed?: string;
  /** It cannot be done yet. */
  busy?: boolean;
  /** The act, while it is done and after it was refused. */
  doing?: { isPending: boolean; error: Error | null };
  /** “The run was not cancelled”. */
  refused?: string;
  /** Where the focus goes at its end, where what opened it goes with the act. */
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
    // A dialog in a page's form is within it for React, though not for the browser.
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

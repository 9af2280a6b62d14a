import { AlertDialog as Base } from "@base-ui/react/alert-dialog";
import { type ReactNode, useRef } from "react";
import { buttonClass } from "./button.tsx";
import { DialogFoot, DialogShell } from "./dialog-shell.tsx";

/** Asks before something that cannot be undone. Names the act and its effect; the focus is on the way back. */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  children,
  act,
  keep,
  kind = "danger",
  busy,
  finalFocus,
  onConfirm,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  act: string;
  keep: string;
  /** What cannot be undone is `danger`. */
  kind?: "danger" | "primary";
  busy: boolean;
  /** Where the focus goes at its end, where what opened it goes with the act. */
  finalFocus?: () => HTMLElement | true;
  onConfirm: () => void;
}) {
  const safe = useRef<HTMLButtonElement>(null);
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <DialogShell initialFocus={safe} finalFocus={finalFocus}>
        <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">{title}</Base.Title>
        <div className="min-h-0 overflow-y-auto px-5 pt-2 pb-5 text-md">{children}</div>
        <DialogFoot>
          <Base.Close ref={safe} className={buttonClass()}>
            {keep}
          </Base.Close>
          <button type="button" className={buttonClass({ kind })} disabled={busy} onClick={onConfirm}>
            {act}
          </button>
        </DialogFoot>
      </DialogShell>
    </Base.Root>
  );
}

import { Dialog as Base } from "@base-ui/react/dialog";
import type { FormEvent, ReactNode } from "react";
import { sendOnEnter } from "../lib/send-on-enter.ts";
import { askToLeave, useUnsaved } from "../lib/use-unsaved.ts";
import { Button, type ButtonLook, buttonClass } from "./button.tsx";
import { DialogFoot, DialogShell } from "./dialog-shell.tsx";
import { LeaveQuestion } from "./leave-question.tsx";

/** Asks for a few fields before an act that makes something. The focus is on the first field; ⌘↵ sends it. */
export function FormDialog({
  open,
  onOpenChange,
  title,
  about,
  children,
  act,
  actKind = "primary",
  keep = "Close",
  wide = false,
  unsaved = false,
  busy,
  onSubmit,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** A line or two below the title. */
  about?: ReactNode;
  children: ReactNode;
  act: string;
  /** Red where the act destroys. */
  actKind?: ButtonLook["kind"];
  keep?: string;
  wide?: boolean;
  /** Something was written, and is not being saved: Escape, Back and a click beside the dialog ask before it is lost. */
  unsaved?: boolean;
  busy: boolean;
  onSubmit: () => void;
}) {
  useUnsaved(open && unsaved);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A dialog in a page's form is within it for React, though not for the browser.
    event.stopPropagation();
    if (!busy) onSubmit();
  };
  const change: Base.Root.Props["onOpenChange"] = (next, { reason }) => {
    // Whoever presses the button that closes knows what that means.
    if (next || !unsaved || reason === "close-press") onOpenChange(next);
    else void askToLeave().then((leaves) => leaves && onOpenChange(false));
  };
  return (
    <Base.Root open={open} onOpenChange={change}>
      <DialogShell wide={wide}>
        <form onSubmit={submit} onKeyDown={sendOnEnter} noValidate className="flex min-h-0 flex-col">
          <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">{title}</Base.Title>
          {about && <Base.Description className="px-5 pt-0.5 text-muted">{about}</Base.Description>}
          <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5 pt-3 pb-5">{children}</div>
          <DialogFoot>
            <Base.Close className={buttonClass()}>{keep}</Base.Close>
            <Button type="submit" kind={actKind} disabled={busy}>
              {act}
            </Button>
          </DialogFoot>
        </form>
        {unsaved && <LeaveQuestion above="dialog" />}
      </DialogShell>
    </Base.Root>
  );
}

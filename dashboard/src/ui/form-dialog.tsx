import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import type { ApiRequest } from "../lib/request-code.ts";
import { askToLeave } from "../lib/use-unsaved.ts";
import { Button, type ButtonLook, buttonClass } from "./button.tsx";
import { DialogFoot, DialogShell } from "./dialog-shell.tsx";
import { ErrorNote } from "./error-note.tsx";
import { type AnyForm, Form } from "./form.tsx";
import { LeaveQuestion } from "./leave-question.tsx";
import { FoldedCode } from "./show-code.tsx";

/** Asks for a few fields before an act that makes something. The focus is on the first field. */
export function FormDialog({
  open = true,
  onClose,
  form,
  title,
  about,
  children,
  act,
  acting = act,
  actKind = "primary",
  keep = "Cancel",
  wide = false,
  ready = true,
  failed,
  request,
}: {
  open?: boolean;
  onClose: () => void;
  /** What is unsaved in it, Escape, Back and a click beside the dialog ask about before it is lost. */
  form: AnyForm;
  title: string;
  /** A line or two below the title. */
  about?: ReactNode;
  children: ReactNode;
  act: string;
  /** The act, while it is under way. */
  acting?: string;
  /** Red where the act destroys. */
  actKind?: ButtonLook["kind"];
  keep?: string;
  wide?: boolean;
  /** Whether there is something to send. */
  ready?: boolean;
  /** Before what went wrong: “The key was not created”. */
  failed?: string;
  /** The request behind it. */
  request?: ApiRequest;
}) {
  const { isPending = false, isUnsaved = false, error } = form;
  const change: Base.Root.Props["onOpenChange"] = (next, { reason }) => {
    if (next) return;
    // Whoever presses the button that closes knows what that means.
    if (!isUnsaved || reason === "close-press") onClose();
    else void askToLeave().then((leaves) => leaves && onClose());
  };
  return (
    <Base.Root open={open} onOpenChange={change}>
      <DialogShell wide={wide}>
        <Form form={form} ready={ready} className="flex min-h-0 flex-col">
          <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">{title}</Base.Title>
          {about && <Base.Description className="px-5 pt-0.5 text-muted">{about}</Base.Description>}
          <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5 pt-3 pb-5">
            {children}
            {request && <FoldedCode name={title} request={request} />}
            {error && failed && <ErrorNote title={failed} error={error} />}
          </div>
          <DialogFoot>
            <Base.Close className={buttonClass()}>{keep}</Base.Close>
            <Button type="submit" kind={actKind} disabled={isPending || !ready}>
              {isPending ? acting : act}
            </Button>
          </DialogFoot>
        </Form>
        {isUnsaved && <LeaveQuestion above="dialog" />}
      </DialogShell>
    </Base.Root>
  );
}

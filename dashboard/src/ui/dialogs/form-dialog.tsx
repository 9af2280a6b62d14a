import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { askToLeave } from "../../hooks/use-unsaved.ts";
import type { ApiRequest } from "../../lib/request-code.ts";
import { ErrorNote } from "../feedback/error-note.tsx";
import { Button, type ButtonLook, buttonClass } from "../forms/button.tsx";
import { type AnyForm, Form } from "../forms/form.tsx";
import { FoldedCode } from "../forms/show-code.tsx";
import { DialogFoot, DialogShell } from "./dialog-shell.tsx";
import { UnsavedChangesDialog } from "./unsaved-changes-dialog.tsx";

/** Dialog with a form. The first field has the focus. */
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
  /** Form whose unsaved changes Escape, Back and a click outside ask about. */
  form: AnyForm;
  title: string;
  /** One or two lines below the title. */
  about?: ReactNode;
  children: ReactNode;
  act: string;
  /** Label while it is being sent. */
  acting?: string;
  /** Red for a destructive action. */
  actKind?: ButtonLook["kind"];
  keep?: string;
  wide?: boolean;
  /** True if there is something to send. */
  ready?: boolean;
  /** Title of the error: “The key was not created”. */
  failed?: string;
  /** Equivalent API request. */
  request?: ApiRequest;
}) {
  const { isPending = false, isUnsaved = false, error } = form;
  const change: Base.Root.Props["onOpenChange"] = (next, { reason }) => {
    if (next) return;
    // The close button is deliberate, so it does not ask.
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
        {isUnsaved && <UnsavedChangesDialog above="dialog" />}
      </DialogShell>
    </Base.Root>
  );
}

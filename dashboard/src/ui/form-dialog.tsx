import { Dialog as Base } from "@base-ui/react/dialog";
import { clsx } from "clsx";
import type { FormEvent, ReactNode } from "react";
import { sendOnEnter } from "../lib/send-on-enter.ts";
import { Button, type ButtonLook, buttonClass } from "./button.tsx";

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
  busy: boolean;
  onSubmit: () => void;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A dialog in a page's form is within it for React, though not for the browser.
    event.stopPropagation();
    if (!busy) onSubmit();
  };
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-(--z-scrim) bg-scrim" />
        <Base.Viewport className="fixed inset-0 z-(--z-dialog) grid items-end justify-items-center rail:items-center rail:p-4">
          <Base.Popup
            className={clsx(
              "enter flex max-h-dvh w-full flex-col overflow-hidden rounded-t-xl bg-surface shadow-3 rail:max-h-full rail:rounded-xl",
              wide ? "max-w-180" : "max-w-135",
            )}
          >
            <form onSubmit={submit} onKeyDown={sendOnEnter} noValidate className="flex min-h-0 flex-col">
              <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">{title}</Base.Title>
              {about && <Base.Description className="px-5 pt-0.5 text-muted">{about}</Base.Description>}
              <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5 pt-3 pb-5">{children}</div>
              <div className="flex shrink-0 flex-wrap justify-end gap-2 border-t border-line bg-subtle px-5 py-3">
                <Base.Close className={buttonClass()}>{keep}</Base.Close>
                <Button type="submit" kind={actKind} disabled={busy}>
                  {act}
                </Button>
              </div>
            </form>
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

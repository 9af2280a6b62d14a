import { Dialog as Base } from "@base-ui/react/dialog";
import type { FormEvent, ReactNode } from "react";
import { Button, buttonClass } from "./button.tsx";

/** Asks for a few fields before an act that makes something. The focus is on the first field. */
export function FormDialog({
  open,
  onOpenChange,
  title,
  children,
  act,
  busy,
  onSubmit,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  act: string;
  busy: boolean;
  onSubmit: () => void;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy) onSubmit();
  };
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-(--z-scrim) bg-scrim" />
        <Base.Viewport className="fixed inset-0 z-(--z-dialog) grid items-end justify-items-center rail:items-center rail:p-4">
          <Base.Popup className="enter w-full max-w-135 overflow-hidden rounded-t-xl bg-surface shadow-3 rail:rounded-xl">
            <form onSubmit={submit} noValidate>
              <Base.Title className="px-5 pt-5 text-lg">{title}</Base.Title>
              <div className="flex flex-col gap-4 px-5 pt-3 pb-5">{children}</div>
              <div className="flex flex-wrap justify-end gap-2 border-t border-line bg-subtle px-5 py-3">
                <Base.Close className={buttonClass()}>Close</Base.Close>
                <Button type="submit" kind="primary" disabled={busy}>
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

import { AlertDialog as Base } from "@base-ui/react/alert-dialog";
import { type ReactNode, useRef } from "react";
import { buttonClass } from "./button.tsx";

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
  onConfirm: () => void;
}) {
  const safe = useRef<HTMLButtonElement>(null);
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-(--z-scrim) bg-scrim" />
        <Base.Viewport className="fixed inset-0 z-(--z-dialog) grid items-end justify-items-center rail:items-center rail:p-4">
          <Base.Popup
            initialFocus={safe}
            className="enter flex w-full max-w-135 flex-col overflow-hidden rounded-t-xl bg-surface shadow-3 rail:rounded-xl"
          >
            <Base.Title className="px-5 pt-5 text-lg">{title}</Base.Title>
            <div className="px-5 pt-2 pb-5 text-md">{children}</div>
            <div className="flex flex-wrap justify-end gap-2 border-t border-line bg-subtle px-5 py-3">
              <Base.Close ref={safe} className={buttonClass()}>
                {keep}
              </Base.Close>
              <button type="button" className={buttonClass({ kind })} disabled={busy} onClick={onConfirm}>
                {act}
              </button>
            </div>
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

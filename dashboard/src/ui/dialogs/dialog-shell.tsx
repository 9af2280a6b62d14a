import { Dialog } from "@base-ui/react/dialog";
import { clsx } from "clsx";
import type { ReactNode, RefObject } from "react";

/** Frame of every dialog and alert dialog: backdrop and panel. On a phone a sheet at the lower edge. */
export function DialogShell({
  wide = false,
  initialFocus,
  finalFocus,
  children,
}: {
  wide?: boolean;
  initialFocus?: RefObject<HTMLElement | null>;
  /** Element focused after closing; by default the one focused before. */
  finalFocus?: () => HTMLElement | true;
  children: ReactNode;
}) {
  return (
    <Dialog.Portal>
      {/* Also for a dialog above another one, to distinguish them. */}
      <Dialog.Backdrop forceRender className="fixed inset-0 z-(--z-dialog) bg-scrim" />
      <Dialog.Viewport className="fixed inset-0 z-(--z-dialog) grid items-end justify-items-center rail:items-center rail:p-4">
        <Dialog.Popup
          initialFocus={initialFocus}
          finalFocus={finalFocus}
          className={clsx(
            "enter flex max-h-dvh w-full flex-col overflow-hidden rounded-t-xl bg-surface shadow-3 rail:max-h-full rail:rounded-xl",
            wide ? "max-w-180" : "max-w-135",
          )}
        >
          {children}
        </Dialog.Popup>
      </Dialog.Viewport>
    </Dialog.Portal>
  );
}

/** Foot of a dialog: cancel and confirm. */
export function DialogFoot({ children }: { children: ReactNode }) {
  return (
    <div className="flex shrink-0 flex-wrap justify-end gap-2 border-t border-line bg-subtle px-5 py-3">{children}</div>
  );
}

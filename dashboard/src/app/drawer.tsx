import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { Session } from "../../../server/domain/api-types/console.ts";
import { Logo } from "../ui/data/logo.tsx";
import { buttonClass } from "../ui/forms/button.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { GuideLink, ReferenceLink } from "./guide-link.tsx";
import { Nav } from "./nav.tsx";

interface DrawerProps {
  session: Session;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** The navigation and the account menu on a phone. */
export function Drawer({ session, open, onOpenChange }: DrawerProps) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-(--z-scrim) bg-scrim" />
        <Dialog.Popup className="enter fixed inset-y-0 left-0 z-(--z-dialog) flex w-3/4 flex-col gap-3 overflow-auto bg-shell p-3 shadow-3">
          <div className="flex items-center justify-between px-2">
            <Dialog.Title render={<div />}>
              <Logo />
            </Dialog.Title>
            <Dialog.Close className={buttonClass({ kind: "ghost", size: "icon" })} aria-label="Close the menu">
              <X aria-hidden className="size-4" strokeWidth={1.5} />
            </Dialog.Close>
          </div>
          <Nav group="Pages" wide onNavigate={() => onOpenChange(false)} />
          <Nav group="Build" wide onNavigate={() => onOpenChange(false)} />
          <Nav group="Connect" wide onNavigate={() => onOpenChange(false)} />
          <div className="mt-auto flex flex-col gap-1 border-t border-mode-line pt-2">
            <Nav group="Administration" wide onNavigate={() => onOpenChange(false)} />
            <ReferenceLink wide />
            <GuideLink wide />
            <AccountMenu session={session} wide />
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

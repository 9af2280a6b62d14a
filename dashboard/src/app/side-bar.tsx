import { Menu as MenuIcon } from "lucide-react";
import { lazy, useContext, useState } from "react";
import type { Session } from "../../../server/domain/api-types/console.ts";
import { WorkspaceContext } from "../lib/workspace.ts";
import { Logo } from "../ui/data/logo.tsx";
import { LazyBoundary } from "../ui/feedback/lazy-boundary.tsx";
import { Button } from "../ui/forms/button.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { GuideLink, ReferenceLink } from "./guide-link.tsx";
import { ModeSwitch } from "./mode-switch.tsx";
import { Nav } from "./nav.tsx";
import { CommandMenuButton } from "./palette-button.tsx";
import { ProjectSwitcher } from "./project-switcher.tsx";

/** Navigation: a side bar, an icon rail on narrower screens, a top bar on a phone. */
export function SideBar({ session }: { session: Session }) {
  const hasProject = useContext(WorkspaceContext) !== null;
  return (
    <>
      <header className="hidden min-h-0 flex-col gap-2 overflow-y-auto p-2 [scrollbar-width:none] rail:flex">
        <div className="flex h-9 items-center justify-center wide:justify-start wide:px-2">
          <span className="wide:hidden">
            <Logo wordless />
          </span>
          <span className="hidden wide:block">
            <Logo />
          </span>
        </div>
        {hasProject && (
          <>
            <ProjectSwitcher projects={session.projects} />
            <ModeSwitch />
            <CommandMenuButton />
          </>
        )}
        <Nav group="Pages" />
        <Nav group="Build" />
        <Nav group="Connect" />
        <div className="mt-auto flex flex-col gap-1 border-t border-mode-line pt-2">
          <Nav group="Administration" />
          <ReferenceLink />
          <GuideLink />
          <AccountMenu session={session} />
        </div>
      </header>
      <header className="flex items-center gap-2 px-2 py-1.5 rail:hidden">
        <DrawerButton session={session} />
        {hasProject && (
          <>
            <div className="min-w-0 flex-1">
              <ProjectSwitcher projects={session.projects} wide />
            </div>
            <div className="w-29 shrink-0">
              <ModeSwitch />
            </div>
            <CommandMenuButton small />
          </>
        )}
      </header>
    </>
  );
}

/** Lazy: wide screens never need it. */
const Drawer = lazy(() => import("./drawer.tsx").then((module) => ({ default: module.Drawer })));

function DrawerButton({ session }: { session: Session }) {
  const [open, setOpen] = useState<boolean | null>(null);
  return (
    <>
      <Button
        kind="ghost"
        size="icon"
        aria-label="Menu"
        aria-haspopup="dialog"
        aria-expanded={open === true}
        onClick={() => setOpen(true)}
      >
        <MenuIcon aria-hidden className="size-4" strokeWidth={1.5} />
      </Button>
      {open !== null && (
        <LazyBoundary>
          <Drawer session={session} open={open} onOpenChange={setOpen} />
        </LazyBoundary>
      )}
    </>
  );
}

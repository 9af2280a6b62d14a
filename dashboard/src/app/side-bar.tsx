import { clsx } from "clsx";
import { Menu as MenuIcon, Search } from "lucide-react";
import { lazy, useContext, useState } from "react";
import type { Session } from "../../../server/domain/api-types/console.ts";
import type { Environment as Mode } from "../../../server/domain/scope.ts";
import { withModifier } from "../lib/modifier.ts";
import { useWorkspace, WorkspaceContext } from "../lib/workspace.ts";
import { Kbd } from "../ui/data/kbd.tsx";
import { Logo } from "../ui/data/logo.tsx";
import { LazyBoundary } from "../ui/feedback/lazy-boundary.tsx";
import { Button } from "../ui/forms/button.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { GuideLink, ReferenceLink } from "./guide-link.tsx";
import { Nav } from "./nav.tsx";
import { ProjectSwitcher } from "./project-switcher.tsx";
import { showShellDialog } from "./use-shell-dialog.ts";
import { useSwitchMode } from "./use-switch-mode.ts";

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

const modes: { value: Mode; label: string }[] = [
  { value: "test", label: "Test" },
  { value: "live", label: "Live" },
];

/** Switches between test and live. The mode also colours the shell. */
function ModeSwitch() {
  const { mode } = useWorkspace();
  const switchMode = useSwitchMode();
  return (
    <fieldset
      aria-label="Data"
      className="grid grid-cols-2 rounded-md border border-mode-line bg-mode-soft p-0.5 rail:grid-cols-1 wide:grid-cols-2"
    >
      {modes.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={mode === value}
          onClick={() => mode !== value && void switchMode(value)}
          className="h-6.5 rounded-sm text-xs font-medium text-mode-ink transition-colors aria-pressed:bg-mode aria-pressed:font-strong aria-pressed:text-on-mode rail:text-2xs wide:text-xs pointer-coarse:h-8"
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}

/** Opens the command menu. Looks like a search field; an icon on the rail and on a phone. */
function CommandMenuButton({ small = false }: { small?: boolean }) {
  return (
    <button
      type="button"
      aria-label={small ? "Search or jump to" : undefined}
      aria-haspopup="dialog"
      title={`Search or jump to (${withModifier("K")})`}
      onClick={() => showShellDialog("palette")}
      className={clsx(
        "flex h-(--control) shrink-0 items-center justify-center gap-2.5 rounded-md text-muted hover:bg-mode-soft hover:text-ink",
        small
          ? "w-(--control)"
          : "wide:justify-start wide:border wide:border-line-control wide:bg-surface wide:px-2 wide:hover:bg-surface",
      )}
    >
      <Search aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
      {!small && (
        <>
          <span className="hidden wide:block">Search or jump to</span>
          <span className="ml-auto hidden wide:block">
            <Kbd>{withModifier("K")}</Kbd>
          </span>
        </>
      )}
    </button>
  );
}

import { useNavigate } from "@tanstack/react-router";
import { lazy, useEffect, useState } from "react";
import { emptyInput } from "../features/command-menu/palette-row.tsx";
import { hasDialog, useKeys } from "../hooks/use-keys.ts";
import type { Project } from "../lib/workspace.ts";
import { LazyBoundary } from "../ui/feedback/lazy-boundary.tsx";
import { PendingKeyMap, PendingPalette } from "./pending-dialogs.tsx";
import { useShellDialog } from "./use-shell-dialog.ts";

const loadPalette = () => import("./shell-palette.tsx").then((module) => ({ default: module.ShellPalette }));
const ShellPalette = lazy(loadPalette);
const KeyMap = lazy(() => import("./key-map.tsx").then((module) => ({ default: module.KeyMap })));
const Toasts = lazy(() => import("../ui/feedback/toasts.tsx").then((module) => ({ default: module.Toasts })));

const none = { palette: false, keys: false };

/** Keyboard shortcuts of the shell, and its overlays: command menu, shortcut map and toasts. */
export function ShellDialogs({ projects }: { projects: readonly Project[] }) {
  const [openDialog, show] = useShellDialog();
  const [mountedDialogs, setMountedDialogs] = useMountedDialogs(openDialog);
  const [paletteInput, setPaletteInput] = useState(emptyInput);
  useShellKeys();
  useEffect(() => {
    const idle = window.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 1000));
    idle(() => void loadPalette().catch(() => {})); // A failure is ignored: the menu is loaded again when opened.
  }, []);
  useEffect(() => {
    if (openDialog !== "palette") setPaletteInput(emptyInput);
  }, [openDialog]);
  const close = () => show(null);
  const change = (dialog: "palette" | "keys") => (open: boolean) => show(open ? dialog : null);
  const onMissing = () => {
    close();
    setMountedDialogs(none);
  };
  return (
    <>
      <LazyBoundary>
        <Toasts />
      </LazyBoundary>
      {mountedDialogs.palette && (
        <LazyBoundary
          fallback={
            openDialog === "palette" && <PendingPalette typed={paletteInput} onType={setPaletteInput} onClose={close} />
          }
          onMissing={onMissing}
        >
          <ShellPalette
            projects={projects}
            typed={paletteInput}
            open={openDialog === "palette"}
            onOpenChange={change("palette")}
          />
        </LazyBoundary>
      )}
      {mountedDialogs.keys && (
        <LazyBoundary fallback={openDialog === "keys" && <PendingKeyMap onClose={close} />} onMissing={onMissing}>
          <KeyMap open={openDialog === "keys"} onOpenChange={change("keys")} />
        </LazyBoundary>
      )}
    </>
  );
}

/** Keeps a dialog mounted once opened, so that its exit is animated and the focus returns. */
function useMountedDialogs(shown: "palette" | "keys" | null) {
  const [wanted, setWanted] = useState(none);
  // During render, because the next key may come before an effect.
  if (shown && !wanted[shown]) setWanted({ ...wanted, [shown]: true });
  return [wanted, setWanted] as const;
}

function useShellKeys(): void {
  const navigate = useNavigate();
  const [shown, show] = useShellDialog();
  const goTo = (to: string) => () => void navigate({ to });
  useKeys({
    "?": () => show("keys"),
    "g o": goTo("/overview"),
    "g p": goTo("/playground"),
    "g r": goTo("/runs"),
    "g a": goTo("/approvals"),
    "g k": goTo("/keys"),
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // Do not open over another dialog.
      if (shown === "palette") show(null);
      else if (!hasDialog()) show("palette");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [shown, show]);
}

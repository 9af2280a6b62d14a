import { useNavigate } from "@tanstack/react-router";
import { lazy, useEffect, useState } from "react";
import { nothingTyped } from "../features/palette/palette-row.tsx";
import { hasDialog, useKeys } from "../lib/use-keys.ts";
import type { Project } from "../lib/workspace.ts";
import { LoadedPart } from "../ui/loaded-part.tsx";
import { PendingKeyMap, PendingPalette } from "./pending-dialogs.tsx";
import { useShellDialog } from "./use-shell-dialog.ts";

const loadPalette = () => import("./shell-palette.tsx").then((module) => ({ default: module.ShellPalette }));
const ShellPalette = lazy(loadPalette);
const KeyMap = lazy(() => import("./key-map.tsx").then((module) => ({ default: module.KeyMap })));
const Toasts = lazy(() => import("../ui/toasts.tsx").then((module) => ({ default: module.Toasts })));

const none = { palette: false, keys: false };

/** The keys of the shell, and what lies over every page: the palette, the map of the keys, and toasts. */
export function ShellDialogs({ projects }: { projects: readonly Project[] }) {
  const [shown, show] = useShellDialog();
  const [wanted, setWanted] = useWanted(shown);
  const [typed, setTyped] = useState(nothingTyped);
  useShellKeys();
  useEffect(() => {
    const idle = window.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 1000));
    idle(() => void loadPalette().catch(() => {})); // Without it now, it is asked for again when it is wanted.
  }, []);
  useEffect(() => {
    if (shown !== "palette") setTyped(nothingTyped);
  }, [shown]);
  const close = () => show(null);
  const change = (dialog: "palette" | "keys") => (open: boolean) => show(open ? dialog : null);
  const onMissing = () => {
    close();
    setWanted(none);
  };
  return (
    <>
      <LoadedPart>
        <Toasts />
      </LoadedPart>
      {wanted.palette && (
        <LoadedPart
          fallback={shown === "palette" && <PendingPalette typed={typed} onType={setTyped} onClose={close} />}
          onMissing={onMissing}
        >
          <ShellPalette {...{ projects, typed }} open={shown === "palette"} onOpenChange={change("palette")} />
        </LoadedPart>
      )}
      {wanted.keys && (
        <LoadedPart fallback={shown === "keys" && <PendingKeyMap onClose={close} />} onMissing={onMissing}>
          <KeyMap open={shown === "keys"} onOpenChange={change("keys")} />
        </LoadedPart>
      )}
    </>
  );
}

/** What was open once stays mounted, so that its end is seen and the focus goes back to where it was. */
function useWanted(shown: "palette" | "keys" | null) {
  const [wanted, setWanted] = useState(none);
  // In the same rendering: the next key may come before an effect.
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
      // Not over another dialog: its question comes first.
      if (shown === "palette") show(null);
      else if (!hasDialog()) show("palette");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [shown, show]);
}

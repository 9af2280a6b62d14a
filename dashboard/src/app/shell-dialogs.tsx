import { useNavigate } from "@tanstack/react-router";
import { lazy, useEffect, useState } from "react";
import { useKeys } from "../lib/use-keys.ts";
import type { Project } from "../lib/workspace.ts";
import { LoadedPart } from "../ui/loaded-part.tsx";
import { useShellDialog } from "./use-shell-dialog.ts";

const loadPalette = () => import("./shell-palette.tsx").then((module) => ({ default: module.ShellPalette }));
const ShellPalette = lazy(loadPalette);
const KeyMap = lazy(() => import("./key-map.tsx").then((module) => ({ default: module.KeyMap })));
const Toasts = lazy(() => import("../ui/toasts.tsx").then((module) => ({ default: module.Toasts })));

/** The keys of the shell, and what lies over every page: the palette, the map of the keys, and toasts. */
export function ShellDialogs({ projects }: { projects: readonly Project[] }) {
  const [shown, show] = useShellDialog();
  const wanted = useWanted(shown);
  useShellKeys();
  useEffect(() => {
    const idle = window.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 1000));
    idle(() => void loadPalette().catch(() => {})); // Without it now, it is asked for again when it is wanted.
  }, []);
  const change = (dialog: "palette" | "keys") => (open: boolean) => show(open ? dialog : null);
  return (
    <>
      <LoadedPart>
        <Toasts />
      </LoadedPart>
      {wanted.palette && (
        <LoadedPart>
          <ShellPalette projects={projects} open={shown === "palette"} onOpenChange={change("palette")} />
        </LoadedPart>
      )}
      {wanted.keys && (
        <LoadedPart>
          <KeyMap open={shown === "keys"} onOpenChange={change("keys")} />
        </LoadedPart>
      )}
    </>
  );
}

/** What was open once stays mounted, so that its end is seen and the focus goes back to where it was. */
function useWanted(shown: "palette" | "keys" | null) {
  const [wanted, setWanted] = useState({ palette: false, keys: false });
  useEffect(() => {
    if (shown) setWanted((before) => ({ ...before, [shown]: true }));
  }, [shown]);
  return wanted;
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
      const hasDialog = document.querySelector("[role=dialog],[role=alertdialog]") !== null;
      if (shown === "palette") show(null);
      else if (!hasDialog) show("palette");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [shown, show]);
}

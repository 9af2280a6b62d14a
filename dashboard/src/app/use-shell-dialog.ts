import { useSyncExternalStore } from "react";

type ShellDialog = "palette" | "keys" | null;

const listeners = new Set<() => void>();
let shown: ShellDialog = null;

/** Opens a dialog of the shell, or closes the one that is open. */
export function showShellDialog(dialog: ShellDialog): void {
  shown = dialog;
  for (const listener of listeners) listener();
}

/** The dialog of the shell that is open, and what opens another. */
export function useShellDialog(): [ShellDialog, (dialog: ShellDialog) => void] {
  return [useSyncExternalStore(subscribe, () => shown), showShellDialog];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

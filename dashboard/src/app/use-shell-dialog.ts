import { useSyncExternalStore } from "react";

type ShellDialog = "palette" | "keys" | null;

const listeners = new Set<() => void>();
let shown: ShellDialog = null;
let focusBefore: Element | null = null;

/** Opens a dialog of the shell, or closes the one that is open. */
export function showShellDialog(dialog: ShellDialog): void {
  if (dialog && !shown) focusBefore = document.activeElement;
  shown = dialog;
  for (const listener of listeners) listener();
}

/** The dialog of the shell that is open, and what opens another. */
export function useShellDialog(): [ShellDialog, (dialog: ShellDialog) => void] {
  return [useSyncExternalStore(subscribe, () => shown), showShellDialog];
}

/**
 * What had the focus before, to which it goes back unless something else took it meanwhile. Where nothing had it, nothing
 * gets it: of the whole page the dialog would give it to the first link, which goes past the menu and would show itself.
 */
export function giveFocusBack(): HTMLElement | false {
  const { activeElement, body } = document;
  const isFree = activeElement === body || activeElement?.closest("[role=dialog]");
  const before = focusBefore === body ? null : focusBefore;
  return isFree && before instanceof HTMLElement && before.isConnected ? before : false;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

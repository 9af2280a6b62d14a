import { useSyncExternalStore } from "react";

type ShellDialog = "palette" | "keys" | null;

const listeners = new Set<() => void>();
let openDialog: ShellDialog = null;
let focusBefore: Element | null = null;

/** Opens a dialog of the shell; null closes the open one. */
export function showShellDialog(dialog: ShellDialog): void {
  if (dialog && !openDialog) focusBefore = document.activeElement;
  openDialog = dialog;
  for (const listener of listeners) listener();
}

/** The open dialog of the shell and its setter. */
export function useShellDialog(): [ShellDialog, (dialog: ShellDialog) => void] {
  return [useSyncExternalStore(subscribe, () => openDialog), showShellDialog];
}

/**
 * Returns the element to focus after a dialog closes: the one focused before, unless the focus has moved meanwhile.
 * False if none was: the dialog would otherwise focus and show the skip link.
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

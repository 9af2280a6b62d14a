import { useSyncExternalStore } from "react";

type FrameDialog = "palette" | "keys" | null;

const listeners = new Set<() => void>();
let shown: FrameDialog = null;

/** Opens a dialog of the frame, or closes the one that is open. */
export function showFrameDialog(dialog: FrameDialog): void {
  shown = dialog;
  for (const listener of listeners) listener();
}

/** The dialog of the frame that is open, and what opens another. */
export function useFrameDialog(): [FrameDialog, (dialog: FrameDialog) => void] {
  return [useSyncExternalStore(subscribe, () => shown), showFrameDialog];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

import { useEffect, useState } from "react";

const shown_ms = 1600;

/** Copies a text and reports success for a moment; “refused” stays until it was seen. */
export function useCopied(text: string) {
  const [state, setState] = useState<"idle" | "copied" | "refused">("idle");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("idle"), shown_ms);
    return () => clearTimeout(timer);
  }, [state]);
  return {
    state,
    copy: async () => {
      const isDone = await copyText(text);
      setState(isDone ? "copied" : "refused");
      return isDone;
    },
    dismiss: () => setState("idle"),
  };
}

/**
 * Copies a text to the clipboard. Returns false if the browser refuses: without permission, or over http from another
 * machine, where only the legacy command is left.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

/**
 * Copies with `execCommand`. It needs a selection next to the focused element: outside an open dialog everything is
 * inert.
 */
function copyByCommand(text: string): boolean {
  const selected = document.createElement("span");
  selected.textContent = " ";
  selected.className = "fixed top-0 whitespace-pre opacity-0 select-text";
  (document.activeElement?.parentElement ?? document.body).append(selected);
  getSelection()?.selectAllChildren(selected);
  const answer = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", answer, { capture: true });
  const isDone = document.execCommand("copy");
  document.removeEventListener("copy", answer, { capture: true });
  getSelection()?.removeAllRanges();
  selected.remove();
  return isDone;
}

import { useEffect, useState } from "react";

const shown_ms = 1600;

/** Copies a text, and says for a moment that it did; “refused” stays until somebody has seen it. */
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
 * Puts a text on the clipboard. False where the browser refuses: without permission, or over http from another machine,
 * where only the older way is left to try.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

/** Copies by the browser's own command. That wants something selected, beside what has the focus: under a dialog all is dead. */
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

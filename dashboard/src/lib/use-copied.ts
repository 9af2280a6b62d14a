import { useEffect, useState } from "react";
import { copyText } from "./copy-text.ts";

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

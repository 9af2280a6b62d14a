import { useEffect, useRef, useState } from "react";

/** How much text is taken apart in a millisecond, with room for everything else. */
const charactersPerMs = 250;

/**
 * A text that grows, painted at most once per frame; a long one less often, so that reading it anew each time leaves
 * the page its breath.
 */
export function usePacedText(text: string, growing: boolean): string {
  const [shown, setShown] = useState(text);
  const latest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  latest.current = text;
  useEffect(() => {
    if (!growing || timer.current !== undefined || text === shown) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      requestAnimationFrame(() => setShown(latest.current));
    }, text.length / charactersPerMs);
  }, [growing, text, shown]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return growing ? shown : text;
}

import { useEffect, useRef, useState } from "react";

/** Characters parsed per millisecond, with a margin for other work. */
const charactersPerMs = 250;

/**
 * Streaming text, updated at most once per animation frame; a long one less often, because each update parses it again.
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

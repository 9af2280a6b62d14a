import { type RefObject, useEffect, useRef } from "react";

/**
 * Moves the focus to the result of `next` when the focused element within `part` disappears, instead of losing it to
 * the page.
 */
export function useKeptFocus(
  part: RefObject<HTMLElement | null>,
  next: (part: HTMLElement) => HTMLElement | null,
): void {
  const find = useRef(next);
  find.current = next;
  useEffect(() => {
    const place = part.current;
    if (!place) return;
    let last: Element | null = null;
    const onFocus = ({ target }: FocusEvent) => {
      last = target instanceof Element && place.contains(target) ? target : null;
    };
    const observer = new MutationObserver(() => {
      if (!last || last.isConnected) return;
      last = null;
      if (document.activeElement === document.body) find.current(place)?.focus();
    });
    document.addEventListener("focusin", onFocus);
    observer.observe(place, { childList: true, subtree: true });
    return () => {
      document.removeEventListener("focusin", onFocus);
      observer.disconnect();
    };
  }, [part]);
}

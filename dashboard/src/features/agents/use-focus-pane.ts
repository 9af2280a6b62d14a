import { type RefObject, useEffect, useRef } from "react";

/**
 * On a phone, where one pane replaces the other: moves the focus to the heading of what was chosen, and back to its
 * entry, which has its name in this attribute.
 */
export function useFocusPane(
  body: RefObject<HTMLElement | null>,
  chosen: string | number | undefined,
  attribute: `data-${string}`,
): void {
  const last = useRef(chosen);
  useEffect(() => {
    const focusTarget = chosen === undefined ? `[${attribute}="${last.current}"]` : "h2";
    last.current = chosen;
    if (!document.activeElement?.checkVisibility()) body.current?.querySelector<HTMLElement>(focusTarget)?.focus();
  }, [body, chosen, attribute]);
}

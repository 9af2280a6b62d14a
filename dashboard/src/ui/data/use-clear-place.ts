import { type RefObject, useLayoutEffect } from "react";
import { type Box, overlaps, popoverPlacement } from "../../lib/popover-placement.ts";

/** Distance from page edges and interactive elements. */
const margin_px = 8;
/** Interactive elements. Rows of a list do not count: they are many and can be scrolled. */
const interactiveElements =
  ":is(button, a[href], input, select, textarea, summary, label, [role=tab], [role=separator], [contenteditable=true]):not([data-row])";

/**
 * Moves an overlay, such as a toast, to a place where it covers no interactive element, also when the page changes. It
 * stays in place as long as possible. `shown` is its content.
 */
export function useUnobstructedPosition(element: RefObject<HTMLElement | null>, shown: readonly unknown[]): void {
  useLayoutEffect(() => {
    const overlay = element.current;
    if (!overlay || shown.length === 0) return;
    move(overlay);
    let frame = 0;
    const onChange = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => move(overlay));
    };
    const observer = new MutationObserver(onChange);
    observer.observe(document.body, { childList: true, subtree: true });
    addEventListener("resize", onChange);
    addEventListener("scroll", onChange, true);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      removeEventListener("resize", onChange);
      removeEventListener("scroll", onChange, true);
    };
  }, [element, shown]);
}

function move(over: HTMLElement): void {
  const obstacles = [...document.querySelectorAll(interactiveElements)]
    .filter((each) => !over.contains(each) && each.checkVisibility({ visibilityProperty: true }))
    .map((each) => expandBox(each.getBoundingClientRect(), margin_px));
  const page = document.getElementById("main") ?? document.body;
  const frame = expandBox(page.getBoundingClientRect(), -margin_px);
  const box = over.getBoundingClientRect();
  const isWithin = box.left >= frame.left && box.right <= frame.right && box.bottom <= frame.bottom;
  if (isWithin && !obstacles.some((each) => overlaps(each, box))) return;
  const place = popoverPlacement(frame, box, obstacles);
  // Without a free place, the style's position applies.
  over.style.left = place ? `${place.left}px` : "";
  over.style.top = place ? `${place.top}px` : "";
  over.style.right = place ? "auto" : "";
  over.style.bottom = place ? "auto" : "";
}

const expandBox = ({ left, top, right, bottom }: Box, by: number): Box => ({
  left: left - by,
  top: top - by,
  right: right + by,
  bottom: bottom + by,
});

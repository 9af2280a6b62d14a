import { type RefObject, useLayoutEffect } from "react";
import { type Box, freePlace, meet } from "../lib/free-place.ts";

/** From the edges of the page, and from what acts. */
const margin_px = 8;
/** What acts. A row of a list is one of many, and can be scrolled. */
const acting =
  ":is(button, a[href], input, select, textarea, summary, label, [role=tab], [role=separator], [contenteditable=true]):not([data-row])";

/**
 * Keeps what lies over the page for some seconds where it covers nothing that acts, also when the page changes below it:
 * it stays where it is as long as it can. `shown`: what it holds.
 */
export function useClearPlace(element: RefObject<HTMLElement | null>, shown: readonly unknown[]): void {
  useLayoutEffect(() => {
    const over = element.current;
    if (!over || shown.length === 0) return;
    move(over);
    let frame = 0;
    const onChange = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => move(over));
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
  const taken = [...document.querySelectorAll(acting)]
    .filter((each) => !over.contains(each) && each.checkVisibility({ visibilityProperty: true }))
    .map((each) => grown(each.getBoundingClientRect(), margin_px));
  const page = document.getElementById("main") ?? document.body;
  const frame = grown(page.getBoundingClientRect(), -margin_px);
  const box = over.getBoundingClientRect();
  const isWithin = box.left >= frame.left && box.right <= frame.right && box.bottom <= frame.bottom;
  if (isWithin && !taken.some((each) => meet(each, box))) return;
  const place = freePlace(frame, box, taken);
  // Nowhere: as the style says.
  over.style.left = place ? `${place.left}px` : "";
  over.style.top = place ? `${place.top}px` : "";
  over.style.right = place ? "auto" : "";
  over.style.bottom = place ? "auto" : "";
}

const grown = ({ left, top, right, bottom }: Box, by: number): Box => ({
  left: left - by,
  top: top - by,
  right: right + by,
  bottom: bottom + by,
});

import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/** Keeps growing content scrolled to its end while the reader is there. */
export function useFollowEnd(active: boolean, content: unknown): RefObject<HTMLElement | null> {
  const scroller = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const element = scroller.current;
    let last = 0;
    // Growing content also moves the end away: only scrolling up stops following.
    const onScroll = () => {
      if (!element) return;
      const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
      if (isNear || element.scrollTop < last) atEnd.current = isNear;
      last = element.scrollTop;
    };
    // Follow changes of the height too, such as content appearing below.
    const sizes = new ResizeObserver(() => {
      if (element && atEnd.current) element.scrollTop = element.scrollHeight;
    });
    element?.addEventListener("scroll", onScroll, { passive: true });
    for (const each of element ? [element, ...element.children] : []) sizes.observe(each);
    return () => {
      element?.removeEventListener("scroll", onScroll);
      sizes.disconnect();
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new content is the reason to scroll.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (active && atEnd.current && element) element.scrollTop = element.scrollHeight;
  }, [active, content]);
  return scroller;
}

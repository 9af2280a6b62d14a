import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/** Keeps the end of growing content in sight, but only while the reader has it in sight. */
export function useFollowEnd(active: boolean, content: unknown): RefObject<HTMLElement | null> {
  const scroller = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const element = scroller.current;
    let last = 0;
    // Growth leaves the end without anybody having gone away from it: only going up is leaving.
    const onScroll = () => {
      if (!element) return;
      const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
      if (isNear || element.scrollTop < last) atEnd.current = isNear;
      last = element.scrollTop;
    };
    // What comes below it takes of its height, and a part of it may grow by itself: the end stays in sight all the same.
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

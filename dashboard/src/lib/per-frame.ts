/** Where a hidden page, which paints nothing, takes what has come all the same. */
const hidden_ms = 100;

/** Gathers what comes, and hands it on in one go for each frame that the page paints. */
export function perFrame<T>(take: (items: T[]) => void): { push: (item: T) => void; stop: () => void } {
  let items: T[] = [];
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisibility);
    frame = timer = undefined;
  };
  const flush = () => {
    stop();
    const gathered = items;
    items = [];
    take(gathered);
  };
  // A page that is hidden meanwhile paints the frame only when it is seen again.
  const onVisibility = () => {
    if (document.hidden) flush();
  };
  return {
    push(item) {
      items.push(item);
      if (frame !== undefined || timer !== undefined) return;
      if (document.hidden) {
        timer = setTimeout(flush, hidden_ms);
      } else {
        frame = requestAnimationFrame(flush);
        document.addEventListener("visibilitychange", onVisibility);
      }
    },
    stop,
  };
}

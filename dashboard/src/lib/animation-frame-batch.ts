/** Interval in milliseconds at which a hidden page, which paints no frames, delivers items. */
const hidden_ms = 100;

/** Batches items and delivers them once per animation frame. */
export function batchPerFrame<T>(take: (items: T[]) => void): { push: (item: T) => void; stop: () => void } {
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
  // A page hidden meanwhile paints no frame until it is visible again.
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

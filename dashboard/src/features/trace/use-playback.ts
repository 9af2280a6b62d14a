import { useCallback, useEffect, useRef, useState } from "react";
import type { Timeline } from "./timeline.ts";

/** How many times as fast as it was. */
export const speeds = ["1", "4", "16"] as const;

/** A fold is passed in so much time, whatever it folds. */
const fold_ms = 400;

/** Moves the position on at the pace of the record, or a multiple of it; at its end it stops. Whoever moves it pauses first. */
export function usePlayback(
  timeline: Timeline,
  position: number | null,
  onPosition: (position: number | null) => void,
  speed: number,
  onEnd: () => void,
) {
  const [isPlaying, setIsPlaying] = useState(false);
  const latest = useRef({ timeline, position, onPosition, speed, onEnd });
  latest.current = { timeline, position, onPosition, speed, onEnd };
  useEffect(() => {
    if (!isPlaying) return;
    const { position: from, timeline: line } = latest.current;
    let at = line.begin + (from ?? 0);
    let before = performance.now();
    let frame = requestAnimationFrame(function next(now) {
      const { timeline, onPosition, speed } = latest.current;
      const fold = timeline.folds.find(({ from, to }) => at >= from && at < to);
      const pace = fold ? Math.max(speed, (fold.to - fold.from) / fold_ms) : speed;
      at += Math.max(0, now - before) * pace;
      before = now;
      if (at >= timeline.end) {
        setIsPlaying(false);
        onPosition(null);
        latest.current.onEnd();
        return;
      }
      onPosition(at - timeline.begin);
      frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
  const toggle = useCallback(() => setIsPlaying((playing) => !playing), []);
  const pause = useCallback(() => setIsPlaying(false), []);
  return { isPlaying, toggle, pause };
}

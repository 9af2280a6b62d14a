import { useEffect, useState } from "react";

const smooth_ms = 100;
const calm_ms = 1000;

/**
 * The time, for bars that grow at the clock's pace; it stands still when nothing does. Never before `floor`, the newest
 * time that the server told: this machine's clock may be behind.
 */
export function useClock(pace: "smooth" | "calm" | "still", floor: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (pace === "still") return;
    const calm = pace === "calm" || matchMedia("(prefers-reduced-motion: reduce)").matches;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), calm ? calm_ms : smooth_ms);
    return () => clearInterval(timer);
  }, [pace]);
  return Math.max(now, floor);
}

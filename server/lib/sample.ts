/**
 * Which of many alike are noted: `most` in a window, so that nobody fills the disk by causing them, and then the number
 * of those that were not.
 */
export type Sample = ReturnType<typeof createSample>;

export function createSample({ most, window_ms, now }: { most: number; window_ms: number; now: () => number }) {
  let [since, count, unnoted] = [Number.NEGATIVE_INFINITY, 0, 0];
  return {
    /** What this one's note says beside itself; null when it gets none. */
    take(): { not_noted?: number } | null {
      // Also when the clock was set back: else nothing would be noted until that time comes again.
      if (Math.abs(now() - since) >= window_ms) [since, count] = [now(), 0];
      if (++count > most) {
        unnoted++;
        return null;
      }
      const before = unnoted;
      unnoted = 0;
      return before > 0 ? { not_noted: before } : {};
    },
  };
}

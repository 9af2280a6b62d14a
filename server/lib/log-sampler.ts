/**
 * Limits repeated log lines to `most` in a window, so that no client can fill the disk by causing them, and counts the
 * others.
 */
export type LogSampler = ReturnType<typeof createLogSampler>;

export function createLogSampler({ most, window_ms, now }: { most: number; window_ms: number; now: () => number }) {
  let [since, count, unnoted] = [Number.NEGATIVE_INFINITY, 0, 0];
  return {
    /** Returns extra fields of this log line, or null if the line is dropped. */
    take(): { not_noted?: number } | null {
      // The difference is absolute because the clock may have been set back: otherwise no line would be logged until
      // that time returns.
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

const [notedPerWindow, window_ms] = [30, 60_000];

/** Which failed sign-ins are noted: some in a minute, so that nobody fills the disk by failing, and then their number. */
export function createRefusals(now: () => number) {
  let [since, count, unnoted] = [Number.NEGATIVE_INFINITY, 0, 0];
  return {
    /** Details of this one's entry; null when it gets none. */
    take(): { not_noted?: number } | null {
      // Also when the clock was set back: else nothing would be noted until that time comes again.
      if (Math.abs(now() - since) >= window_ms) [since, count] = [now(), 0];
      if (++count > notedPerWindow) {
        unnoted++;
        return null;
      }
      const before = unnoted;
      unnoted = 0;
      return before > 0 ? { not_noted: before } : {};
    },
  };
}

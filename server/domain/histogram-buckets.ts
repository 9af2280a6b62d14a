/**
 * Returns the lower bound of a duration's bucket, which is the bucket's key. Buckets keep five leading binary digits,
 * so each is at most a sixteenth of its durations wide.
 */
export function bucketOf(ms: number): number {
  const counted = Math.min(ms, longest);
  return Math.floor(counted / widthOf(counted)) * widthOf(counted);
}

/** Returns the middle of a bucket, at most a 32nd away from each duration in it. Short durations are exact. */
export const bucketMiddle = (from_ms: number): number => Math.floor(from_ms + (widthOf(from_ms) - 1) / 2);

/** Returns the buckets that begin between these two durations. */
export function bucketsBetween(min_ms: number, max_ms: number): number[] {
  const first = Math.max(0, min_ms);
  const ranges: number[] = [];
  for (
    let from = bucketOf(first) < first ? bucketOf(first) + widthOf(first) : bucketOf(first);
    from <= Math.min(max_ms, longest);
    from += widthOf(from)
  )
    ranges.push(from);
  return ranges;
}

// Longer durations count as 24 days, the maximum of a run.
const longest = 2 ** 31 - 1;
const widthOf = (ms: number): number => 2 ** Math.max(0, 27 - Math.clz32(ms));

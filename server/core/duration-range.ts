/**
 * Durations are counted in ranges: five leading binary digits of a duration are kept, so a range is a sixteenth of what
 * it holds or less. This is the shortest duration of the range, by which a table knows it.
 */
export function rangeOf(ms: number): number {
  const counted = Math.min(ms, longest);
  return Math.floor(counted / widthOf(counted)) * widthOf(counted);
}

/** The middle of a range: at most a 32nd part away from each duration in it. Short ones are exact. */
export const middleOf = (from_ms: number): number => Math.floor(from_ms + (widthOf(from_ms) - 1) / 2);

/** The ranges that begin between these two durations. */
export function rangesBetween(min_ms: number, max_ms: number): number[] {
  const first = Math.max(0, min_ms);
  const ranges: number[] = [];
  for (
    let from = rangeOf(first) < first ? rangeOf(first) + widthOf(first) : rangeOf(first);
    from <= Math.min(max_ms, longest);
    from += widthOf(from)
  )
    ranges.push(from);
  return ranges;
}

// Longer than 24 days is as long as 24 days: no run may work that long.
const longest = 2 ** 31 - 1;
const widthOf = (ms: number): number => 2 ** Math.max(0, 27 - Math.clz32(ms));

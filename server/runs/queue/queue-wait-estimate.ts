import { lastItem } from "../../lib/collections.ts";
import { requireValue } from "../../lib/require-value.ts";
/** Durations of runs that hold slots and of runs that ended recently. */
export interface Pace {
  /** Milliseconds each has worked, and milliseconds until its timeout. */
  running: readonly { worked_ms: number; left_ms: number }[];
  /** Milliseconds the last completed runs worked. */
  recent_ms: readonly number[];
}

/** Returns the estimated wait in ms for a slot with `ahead` runs queued before. */
export function estimateQueueWait({ running, recent_ms }: Pace, ahead: number): number {
  if (running.length === 0) return 0;
  const remaining_ms = running.map((run) => leftOf(run, recent_ms)).sort((a, b) => a - b);
  const rounds = Math.floor(ahead / remaining_ms.length);
  return (
    requireValue(remaining_ms[ahead % remaining_ms.length], "A running run") +
    rounds * (median(recent_ms) ?? lastItem(remaining_ms))
  );
}

/**
 * Median remaining time of recent runs that took longer; if none did, the run counts as half done. At most until its
 * timeout.
 */
function leftOf({ worked_ms, left_ms }: Pace["running"][number], recent_ms: readonly number[]): number {
  const longer = recent_ms.filter((ms) => ms > worked_ms);
  return Math.min(left_ms, (median(longer) ?? 2 * worked_ms) - worked_ms);
}

const median = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

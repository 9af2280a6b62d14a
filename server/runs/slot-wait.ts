/** What is known of runs that hold slots, and of those that ended before them. */
export interface Pace {
  /** How long each works already, and how long it may at most go on. */
  running: readonly { worked_ms: number; left_ms: number }[];
  /** How long the last ones worked that completed. */
  recent_ms: readonly number[];
}

/** In how many milliseconds a slot is likely to be free for whoever comes behind so many that wait for one. */
export function slotWait({ running, recent_ms }: Pace, ahead: number): number {
  if (running.length === 0) return 0;
  const left = running.map((run) => leftOf(run, recent_ms)).sort((a, b) => a - b);
  const rounds = Math.floor(ahead / left.length);
  return left[ahead % left.length]! + rounds * (median(recent_ms) ?? left.at(-1)!);
}

/** As long as those worked on that worked longer; one that outlasts them all is taken to be half way. Never past its end. */
function leftOf({ worked_ms, left_ms }: Pace["running"][number], recent_ms: readonly number[]): number {
  const longer = recent_ms.filter((ms) => ms > worked_ms);
  return Math.min(left_ms, (median(longer) ?? 2 * worked_ms) - worked_ms);
}

const median = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

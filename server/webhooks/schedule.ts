const second_ms = 1000;
const minute_ms = 60 * second_ms;
const hour_ms = 60 * minute_ms;

/** The waits after the first, second, … failed attempt, as Standard Webhooks has them: 75 hours in all. */
const waits_ms = [
  5 * second_ms,
  5 * minute_ms,
  30 * minute_ms,
  2 * hour_ms,
  5 * hour_ms,
  10 * hour_ms,
  14 * hour_ms,
  20 * hour_ms,
  24 * hour_ms,
] as const;

const longestAsked_ms = 24 * hour_ms;

/** How long to wait after so many failures in a row: never less than was asked for; null: no more attempts. */
export function waitAfter(failures: number, asked_ms: number | null, random = Math.random): number | null {
  const wait = waits_ms[failures - 1];
  if (wait === undefined) return null;
  // Those that failed together would come back together.
  const jittered = Math.round(wait * (0.8 + 0.4 * random()));
  return Math.max(jittered, Math.min(asked_ms ?? 0, longestAsked_ms));
}

import { usageError } from "./exit-code.ts";

/** Reads a number of days; `forever` gives null. Throws for anything else. */
export function readDays(text: string, flag: string): number | null {
  if (text === "forever") return null;
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw usageError(`${flag} takes days from 1 to 99999, or "forever", not "${text}".`);
  return Number(text);
}

const seconds = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Reads `90d`, `12h`, `30m` or `45s` as seconds; undefined stays undefined. Throws for anything else or out of bounds.
 */
export function readDuration(
  text: string | undefined,
  flag: string,
  { least = 1, most = 10 * 365 * 86_400 } = {},
): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const length = Number(count) * seconds[unit as keyof typeof seconds];
  if (length >= least && length <= most) return length;
  throw usageError(`${flag} takes a time such as 45s, 30m, 12h or 90d, to ${most / 86_400} days, not "${text}".`);
}

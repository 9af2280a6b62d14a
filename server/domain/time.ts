/** Formats a time in RFC 3339, UTC with milliseconds, like every time in the API. */
export const timestamp = (ms: number): string => new Date(ms).toISOString();

/** Parses RFC 3339 to milliseconds; returns null if it is invalid, also for days that do not exist. */
export function readTimestamp(text: string): number | null {
  const [, date] = rfc3339.exec(text) ?? [];
  if (date === undefined) return null;
  // `Date.parse` reads February 30 as March 2, so compare the day.
  const day = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(day) || timestamp(day).slice(0, 10) !== date) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

const rfc3339 = /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

export const timestampOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));

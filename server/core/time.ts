/** RFC 3339 in UTC with milliseconds, as every time on the wire. */
export const timestamp = (ms: number): string => new Date(ms).toISOString();

/** Reads RFC 3339 as milliseconds; null for anything else, and for a day that no calendar has. */
export function readTimestamp(text: string): number | null {
  const [, date] = rfc3339.exec(text) ?? [];
  if (date === undefined) return null;
  // `Date.parse` takes February 30 for March 2: an end would come on another day than the one that was written.
  const day = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(day) || timestamp(day).slice(0, 10) !== date) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

const rfc3339 = /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

export const timestampOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));

/** RFC 3339 in UTC with milliseconds, as every time on the wire. */
export const timestamp = (ms: number): string => new Date(ms).toISOString();

export const timestampOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));

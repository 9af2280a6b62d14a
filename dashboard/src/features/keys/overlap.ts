import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { formatEnd } from "../../lib/format.ts";

export const overlapChoices = ["now", "1h", "24h", "3d", "7d", "own"] as const;
type OverlapChoice = (typeof overlapChoices)[number];

/** The form's choice of an overlap. */
export interface Overlap {
  choice: OverlapChoice;
  /** The typed length of a custom overlap. */
  amount: string;
  unit: "hours" | "days";
}

/** Returns the default overlap: 24 hours, or none if the key was sent in clear text. */
export const firstOverlap = ({ exposed_at }: Pick<ApiKey, "exposed_at">): Overlap => ({
  choice: exposed_at ? "now" : "24h",
  amount: "36",
  unit: "hours",
});

const hour = 3600;
const day = 24 * hour;
const maxOverlap_s = 30 * day;
const seconds: Record<Exclude<OverlapChoice, "own">, number> = {
  now: 0,
  "1h": hour,
  "24h": day,
  "3d": 3 * day,
  "7d": 7 * day,
};

export const overlapNames: Record<OverlapChoice, string> = {
  now: "Now",
  "1h": "1 hour",
  "24h": "24 hours",
  "3d": "3 days",
  "7d": "7 days",
  own: "Custom",
};

/** Returns the length in seconds, or null if a custom overlap is invalid. */
export function overlapSeconds({ choice, amount, unit }: Overlap): number | null {
  if (choice !== "own") return seconds[choice];
  const own = Number(amount) * (unit === "hours" ? hour : day);
  return amount.trim() !== "" && Number.isFinite(own) && own >= 0 && own <= maxOverlap_s ? Math.round(own) : null;
}

/** Returns why a custom overlap is invalid, or null. */
export const overlapFault = (overlap: Overlap): string | null =>
  overlapSeconds(overlap) === null ? "Must be a number, up to 30 days." : null;

/** Returns the width of the old key's bar, from 0 to 1. The scale is logarithmic, so that an hour stays visible. */
export const overlapShare = (overlap_seconds: number): number =>
  overlap_seconds <= 0 ? 0 : 0.12 + 0.88 * (Math.log1p(overlap_seconds / hour) / Math.log1p(maxOverlap_s / hour));

/** Returns the exact end of the old key in words: the end of the overlap, or its own expiry if that is earlier. */
export function overlapWords(overlap_seconds: number, now: number, expires_at: string | null): string {
  if (overlap_seconds <= 0) return "The old key stops at once. Choose this when it has leaked.";
  const [requestedEnd, own] = [
    now + overlap_seconds * 1000,
    expires_at ? Date.parse(expires_at) : Number.POSITIVE_INFINITY,
  ];
  const end = formatEnd(Math.min(requestedEnd, own), now);
  if (own < requestedEnd) return `The old key works until ${end}, when it expires anyway. Both are valid until then.`;
  return `The old key works until ${end}. Both are valid until then.`;
}

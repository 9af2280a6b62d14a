import type { ApiKey } from "../../../../server/wire/key.ts";
import { formatEnd } from "../../lib/format.ts";

export const overlapChoices = ["now", "1h", "24h", "3d", "7d", "own"] as const;
type OverlapChoice = (typeof overlapChoices)[number];

/** An overlap as it is being chosen. */
export interface Overlap {
  choice: OverlapChoice;
  /** What is typed for one of one's own. */
  amount: string;
  unit: "hours" | "days";
}

/** What is offered first. Of a key that was sent in clear text nothing is left to work. */
export const firstOverlap = ({ exposed_at }: Pick<ApiKey, "exposed_at">): Overlap => ({
  choice: exposed_at ? "now" : "24h",
  amount: "36",
  unit: "hours",
});

const hour = 3600;
const day = 24 * hour;
const most = 30 * day;
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

/** How long it lasts; null for one of one's own that cannot be. */
export function overlapSeconds({ choice, amount, unit }: Overlap): number | null {
  if (choice !== "own") return seconds[choice];
  const own = Number(amount) * (unit === "hours" ? hour : day);
  return amount.trim() !== "" && Number.isFinite(own) && own >= 0 && own <= most ? Math.round(own) : null;
}

/** What is wrong with an overlap of one's own. */
export const overlapFault = (overlap: Overlap): string | null =>
  overlapSeconds(overlap) === null ? "Expected a number, up to 30 days." : null;

/** How wide the old key's bar is, from 0 to 1: an hour can be seen beside a month. */
export const overlapShare = (overlap_seconds: number): number =>
  overlap_seconds <= 0 ? 0 : 0.12 + 0.88 * (Math.log1p(overlap_seconds / hour) / Math.log1p(most / hour));

/** The exact end of the old key in words. It never outlasts what it was made for. */
export function overlapWords(overlap_seconds: number, now: number, expires_at: string | null): string {
  if (overlap_seconds <= 0) return "The old key stops at once. Choose this when it has leaked.";
  const [wanted, own] = [now + overlap_seconds * 1000, expires_at ? Date.parse(expires_at) : Number.POSITIVE_INFINITY];
  const end = formatEnd(Math.min(wanted, own), now);
  if (own < wanted) return `The old key works until ${end}, when it expires anyway. Both are valid until then.`;
  return `The old key works until ${end}. Both are valid until then.`;
}

import { formatCost, formatCount, formatDuration, unknownText } from "../../lib/format.ts";

/** Difference between two figures; `less` and `more` give the direction. */
export interface Delta {
  text: string;
  change: "less" | "more" | "same" | "unknown";
}

type Figure = number | null;

/** Formats `9.60 s, 4.00 s less`. */
export function timeDelta(a: Figure, b: Figure): Delta {
  return deltaOf(a, b, formatDuration, (from, to) => formatDuration(Math.abs(to - from)));
}

/** Formats `7,120, 23% less`. */
export const countDelta = (a: Figure, b: Figure): Delta => deltaOf(a, b, formatCount, share);

/** Formats `$0.0121, 35% less`. */
export const costDelta = (a: Figure, b: Figure): Delta => deltaOf(a, b, formatCost, share);

function deltaOf(a: Figure, b: Figure, format: (value: Figure) => string, by: (a: number, b: number) => string): Delta {
  if (b === null) return { text: unknownText, change: "unknown" };
  if (a === null) return { text: format(b), change: "unknown" };
  if (a === b || format(a) === format(b)) return { text: `${format(b)}, the same`, change: "same" };
  const change = b < a ? "less" : "more";
  const amount = by(a, b);
  return { text: `${format(b)}${amount && `, ${amount} ${change}`}`, change };
}

/** Formats the change as a percentage; above a thousand percent as a multiple; empty if `a` is zero. */
function share(a: number, b: number): string {
  if (a === 0) return "";
  const percent = (Math.abs(b - a) / a) * 100;
  if (percent < 1) return "under 1%";
  return percent < 1000 ? `${Math.round(percent)}%` : `${formatCount(Math.round(percent / 100))} times`;
}

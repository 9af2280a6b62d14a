import { unknownText } from "./format.ts";

/** Scale of a chart from zero, with a format that uses one unit and the decimals it needs. */
export interface Axis {
  /** Round number above all values. */
  end: number;
  format: (value: number) => string;
}

/** Their halves, which label the middle of the axis, are round too. */
const steps = [1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** Axis of counts: its middle is a whole number. */
export function countAxis(values: readonly number[]): Axis {
  const end = endOf(values, Number.isInteger);
  const [size, unit] = end >= 1e6 ? [1e6, " M"] : end >= 10_000 ? [1000, " k"] : [1, ""];
  const format = inUnits(end, size, (text) => text + unit);
  return { end, format: (value) => (value === 0 ? "0" : format(value)) };
}

/** Axis of dollars: cents in full or not at all; zero is `$0.00` even beside tiny amounts. */
export function dollarAxis(values: readonly number[]): Axis {
  const end = endOf(values);
  const isWhole = Number.isInteger(end / 2);
  const format = inUnits(end, 1, (text) => `$${text}`, isWhole ? 0 : 2);
  return { end, format: (value) => (value === 0 && !isWhole ? "$0.00" : format(value)) };
}

const units: readonly [size: number, name: string][] = [
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
  [1, "ms"],
];

/** Axis of durations in ms, at least one. */
export function durationAxis(values: readonly number[]): Axis {
  const most = Math.max(...values, 0) || 2000;
  const [size, unit] = units.find(([size]) => most >= size) ?? units.at(-1)!;
  const end = endOf([Math.max(most / size, 1)], size === 1 ? Number.isInteger : undefined) * size;
  return { end, format: inUnits(end, size, (text) => `${text} ${unit}`) };
}

function endOf(values: readonly number[], fits: (middle: number) => boolean = () => true): number {
  const most = Math.max(...values, 0) || 2;
  const power = 10 ** Math.floor(Math.log10(most));
  const ends = steps.map((step) => exact(step * power));
  return ends.find((end) => end >= most && fits(end / 2)) ?? 10 * power;
}

/** Formats values with the decimals that the middle of the axis needs. */
function inUnits(end: number, size: number, write: (text: string) => string, least = 0): Axis["format"] {
  const [, decimals = ""] = exact(end / size / 2)
    .toFixed(12)
    .replace(/0+$/, "")
    .split(".");
  const digits = Math.max(least, decimals.length);
  return (value) =>
    write((value / size).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
}

/** Removes floating-point errors: six times 0.1 is 0.6000000000000001. */
const exact = (value: number): number => Number(value.toPrecision(12));

/** Formats `9,120`, `18.2 k`, `35.7 M`: three digits are enough to compare. */
export function formatCompact(value: number): string {
  if (value < 10_000) return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
  if (value < 1_000_000) return `${(value / 1000).toLocaleString("en", { maximumSignificantDigits: 3 })} k`;
  return `${(value / 1_000_000).toLocaleString("en", { maximumSignificantDigits: 3 })} M`;
}

/** Formats `$47.10`; amounts below a dollar with four decimals. */
export function formatDollars(usd: number): string {
  if (usd === 0) return "$0.00";
  const digits = usd < 1 ? 4 : 2;
  if (usd < 0.00005) return "<$0.0001";
  return `$${usd.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** Formats a sum: `–` if nothing is known, `≥ $0.42` if a part is unknown. Unknown never reads as zero. */
export function formatKnown(sum: number, unknownCalls: number, format: (sum: number) => string): string {
  if (unknownCalls === 0) return format(sum);
  return sum === 0 ? unknownText : `≥ ${format(sum)}`;
}

/** Formats `1.4%`; empty if the whole is zero. */
export function share(part: number, whole: number): string {
  if (whole === 0) return "";
  const percent = (part / whole) * 100;
  const digits = percent > 0 && percent < 10 ? 1 : 0;
  return `${percent.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}%`;
}

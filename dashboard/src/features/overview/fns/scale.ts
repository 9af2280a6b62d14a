const roundSteps = [1, 2, 2.5, 5, 10];
/** Their halves are whole. */
const evenSteps = [2, 4, 6, 8, 10];

/** The round number at which an axis from zero ends: the first that holds everything. */
export function axisEnd(values: readonly number[], steps: readonly number[] = roundSteps): number {
  const most = Math.max(...values, 0);
  if (most === 0) return steps[0]!;
  const power = 10 ** Math.floor(Math.log10(most));
  return (steps.find((each) => each * power >= most) ?? 10) * power;
}

/** The same for what is counted: the middle of the axis is a whole number too. */
export const countAxisEnd = (values: readonly number[]): number => axisEnd(values, evenSteps);

/** `9,120`, `18.2 k`, `35.7 M`: three digits are enough to compare. */
export function formatCompact(value: number): string {
  if (value < 10_000) return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
  if (value < 1_000_000) return `${(value / 1000).toLocaleString("en", { maximumSignificantDigits: 3 })} k`;
  return `${(value / 1_000_000).toLocaleString("en", { maximumSignificantDigits: 3 })} M`;
}

/** `$47.10`; small sums with the four decimals that they have elsewhere. */
export function formatDollars(usd: number): string {
  if (usd === 0) return "$0.00";
  const digits = usd < 1 ? 4 : 2;
  if (usd < 0.00005) return "<$0.0001";
  return `$${usd.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** `1.4 %` of a whole; nothing of nothing. */
export function share(part: number, whole: number): string {
  if (whole === 0) return "";
  const percent = (part / whole) * 100;
  return `${percent.toLocaleString("en", { maximumFractionDigits: percent < 10 ? 1 : 0 })} %`;
}

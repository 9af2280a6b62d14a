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
  const digits = percent > 0 && percent < 10 ? 1 : 0;
  return `${percent.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} %`;
}

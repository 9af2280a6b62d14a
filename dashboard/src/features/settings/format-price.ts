/** `$1.25`, `$0.05`, `$0.005` for a million tokens: as many decimals as it has, and at least two. */
export const formatPrice = (usd: number): string =>
  `$${usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`;

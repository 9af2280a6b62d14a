/** Formats a price per million tokens with at least two decimals: `$1.25`, `$0.05`, `$0.005`. */
export const formatPrice = (usd: number): string =>
  `$${usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`;
